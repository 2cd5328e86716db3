// The numbers of the game that a player sees or feels (games/kosmos/src/config.rs). Zones decide by their own: these
// only spare a player refusals. Metres, milliseconds.

export const AVATAR_SPEED = 6;
export const AVATAR_HEALTH = 100;
export const NPC_HEALTH = 50;
export const BAG_MAX = 8;
export const TEXT_MAX = 200;
export const PICK_UP_REACH = 3;
export const TRADE_REACH = 8;
export const ROCKET_SPEED = 40;
export const MUZZLE = 1;
export const RISE_AFTER = 3_000;
export const BLAST = 5;
export const COINS_MAX = 9_999;
