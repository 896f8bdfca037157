/** Processors since the last look, e.g. 1.5. */
export interface Use {
  /** Kept busy by scripts. */
  readonly used: number;
  /** With nothing to do. */
  readonly idle: number;
  /** With nothing to do, of those that are left to scripts when they leave one. */
  readonly idleOfLeft: number;
}

/** Share of all processors that is idle when there is nothing left. */
export const FULL = 0.1;
/** Share of those that are left to scripts below which they get next to nothing, if there is nothing left. */
export const LITTLE = 0.3;
/** Share from which on they get most. */
export const MUCH = 0.7;
