import type { Value } from '../../language/index.ts';
import type { Answer } from '../call-values.ts';

/** Something that happened to an operation the scenario serves (specification, "Response modes"). */
export interface Report {
  /** `F initiated`, `F provisional`, `F final`, the same with `T`, `finished`. */
  readonly milestone: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly callid?: string;
  readonly dialogid?: string;
  readonly answer?: Answer;
  /** Result fields set by the scenario itself. */
  readonly fields?: Readonly<Record<string, Value>>;
}
