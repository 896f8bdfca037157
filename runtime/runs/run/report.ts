import type { Value } from '../../language/index.ts';
import type { Answer } from '../call-values.ts';

/** A milestone of an operation that the scenario serves (specification, "Response modes"). */
export interface Report {
  /** `F initiated`, `F provisional`, `F final`, the same with `T`, `finished`. */
  readonly milestone: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly callid?: string;
  readonly dialogid?: string;
  readonly answer?: Answer;
  /** Result fields from the scenario. */
  readonly fields?: Readonly<Record<string, Value>>;
}
