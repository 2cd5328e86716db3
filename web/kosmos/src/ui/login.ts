// The first screen: a name and a button, and an account on request.

import { type Lobby, LobbyError, type Pass } from "@ecumene/client";
import { friendlyName } from "../game/texts.ts";
import { $ } from "./dom.ts";

const PASS = "kosmos.pass";

/** The pass of an earlier visit, so that a reload brings the same avatar back. */
export function keptPass(): Pass | null {
  try {
    return JSON.parse(localStorage.getItem(PASS) ?? "null") as Pass | null;
  } catch {
    return null;
  }
}

export function keepPass(pass: Pass | null): void {
  try {
    if (pass === null) localStorage.removeItem(PASS);
    else localStorage.setItem(PASS, JSON.stringify(pass));
  } catch {
    // A browser without storage can still play.
  }
}

export interface LoginDeps {
  lobby: Lobby;
  /** Enters the world; a failure is shown to the player. */
  enter: (pass: Pass) => Promise<void>;
}

export class Login {
  private readonly deps: LoginDeps;
  private readonly name = $<HTMLInputElement>("name");
  private readonly password = $<HTMLInputElement>("password");
  private readonly isNew = $<HTMLInputElement>("is-new");
  private readonly button = $<HTMLButtonElement>("play");

  constructor(deps: LoginDeps) {
    this.deps = deps;
    this.name.value = keptPass()?.name ?? friendlyName();
    $("login-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
    $("account").addEventListener("click", () => this.toggleAccount());
  }

  /** Enters under this name without waiting for the player. */
  autoplay(name: string | null): Promise<void> {
    if (name !== null) this.name.value = name;
    return this.submit();
  }

  show(error = ""): void {
    document.body.dataset["mode"] = "login";
    this.busy(false);
    $("login-error").textContent = error;
  }

  private toggleAccount(): void {
    const withAccount = this.password.hidden === true;
    this.password.hidden = !withAccount;
    this.password.required = withAccount;
    $("new-account").hidden = !withAccount;
    $("account").textContent = withAccount ? "Play as a guest" : "I have an account";
    if (withAccount) this.password.focus();
  }

  private busy(isBusy: boolean): void {
    this.button.disabled = isBusy;
    this.button.textContent = isBusy ? "Entering…" : "Play";
  }

  private async submit(): Promise<void> {
    this.busy(true);
    $("login-error").textContent = "";
    try {
      const pass = await this.pass();
      keepPass(pass);
      await this.enterOrRenew(pass);
    } catch (error) {
      this.show(error instanceof Error ? error.message : String(error));
    }
  }

  /** A stored pass may have expired: then a guest gets a new one. */
  private async enterOrRenew(pass: Pass): Promise<void> {
    try {
      await this.deps.enter(pass);
    } catch (error) {
      const isStale = error instanceof LobbyError && (error.status === 401 || error.status === 404);
      if (!isStale || !this.password.hidden) throw error;
      const renewed = await this.deps.lobby.guest(this.name.value.trim());
      keepPass(renewed);
      await this.deps.enter(renewed);
    }
  }

  private pass(): Promise<Pass> {
    const name = this.name.value.trim() || friendlyName();
    this.name.value = name;
    const { lobby } = this.deps;
    if (!this.password.hidden) {
      return this.isNew.checked ? lobby.createAccount(name, this.password.value) : lobby.login(name, this.password.value);
    }
    const kept = keptPass();
    return kept?.name === name ? Promise.resolve(kept) : lobby.guest(name);
  }
}
