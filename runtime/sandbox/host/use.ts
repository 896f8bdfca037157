/** Use of processors since the last check, as numbers of processors, e.g. 1.5. */
export interface Use {
  /** Used by scripts. */
  readonly used: number;
  /** Idle. */
  readonly idle: number;
  /** Idle among those that remain to scripts when they leave one free. */
  readonly idleOfLeft: number;
}

/** Idle share of all processors below which they count as busy. */
export const FULL = 0.1;
/** Share of the remaining processors below which scripts starve, while all are busy. */
export const LITTLE = 0.3;
/** Share from which scripts get most of them. */
export const MUCH = 0.7;
