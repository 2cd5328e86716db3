// The camera: follows smoothly, zooms, shakes a little at an explosion.

/** Pixels per metre. */
const ZOOM_MIN = 7;
const ZOOM_MAX = 44;
/** Time in which the camera's distance from its goal falls to about a third, ms. */
const FOLLOW = 110;
/** Beyond this distance the camera jumps instead of gliding, m. */
const JUMP = 30;

export class Camera {
  /** Metres. */
  x = 0;
  y = 0;
  /** Pixels per metre. */
  zoom = 18;
  width = 1;
  height = 1;
  private wanted = 18;
  private shaking = 0;
  private clock = 0;
  private shakeX = 0;
  private shakeY = 0;

  resize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
  }

  /** Chooses a zoom for the screen, until the player zooms. */
  fit(): void {
    this.wanted = this.zoom = Math.max(13, Math.min(20, Math.hypot(this.width, this.height) / 74));
  }

  zoomBy(factor: number): void {
    this.wanted = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, this.wanted * factor));
  }

  shake(strength: number): void {
    this.shaking = Math.min(1, this.shaking + strength);
  }

  follow(x: number, y: number, passed: number): void {
    const part = JUMP < Math.hypot(x - this.x, y - this.y) ? 1 : 1 - Math.exp(-passed / FOLLOW);
    this.x += (x - this.x) * part;
    this.y += (y - this.y) * part;
    this.zoom += (this.wanted - this.zoom) * (1 - Math.exp(-passed / 120));
    this.clock += passed;
    this.shaking *= Math.exp(-passed / 180);
    this.shakeX = Math.sin(this.clock * 0.061) * this.shaking * 9;
    this.shakeY = Math.cos(this.clock * 0.073) * this.shaking * 9;
  }

  screenX(x: number): number {
    return (x - this.x) * this.zoom + this.width / 2 + this.shakeX;
  }

  screenY(y: number): number {
    return (this.y - y) * this.zoom + this.height / 2 + this.shakeY;
  }

  worldX(screenX: number): number {
    return (screenX - this.width / 2) / this.zoom + this.x;
  }

  worldY(screenY: number): number {
    return this.y - (screenY - this.height / 2) / this.zoom;
  }
}
