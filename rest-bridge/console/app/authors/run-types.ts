/** Runs as `/api/runs/ID` and tests show them, as far as authors' pages use them. */

export interface RunEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly what: string;
}

export interface TraceEntry {
  readonly step: number;
  readonly block: string;
  readonly component: string;
  readonly subject?: string;
  readonly start: number;
  readonly milliseconds?: number;
  readonly exit?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly answers?: readonly { readonly at: number; readonly party: string; readonly line: string }[];
  readonly interrupt?: string;
  readonly log?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
  /** Of a simulation. */
  readonly events?: readonly RunEvent[];
}

export interface Outcome {
  readonly status: 'completed' | 'ended' | 'failed' | 'stopped';
  readonly error?: { readonly code: string; readonly message: string; readonly block: string };
  readonly reason?: string;
  readonly value?: unknown;
  readonly milliseconds: number;
}

export interface Run {
  readonly id: string;
  readonly scenario: string;
  readonly version: string;
  readonly file: string;
  /** Call-ID of its own party; empty without one. */
  readonly callid?: string;
  readonly from?: string;
  readonly to?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly start?: number;
  readonly trace: readonly TraceEntry[];
  /** Absent while it runs. */
  readonly outcome?: Outcome;
  /** Scenarios that it started. */
  readonly children?: readonly Run[];
}

export interface TestResult {
  readonly name: string;
  readonly line: number;
  readonly passed: boolean;
  readonly found: readonly string[];
  readonly run?: Run;
}

export interface Tested {
  readonly problems: readonly { readonly line: number; readonly message: string; readonly suggestion?: string }[];
  readonly tests: readonly TestResult[];
}

/** Values of all variables after a step. @param step index of the trace */
export function variablesAfter({ args, variables, trace }: Run, step: number): Readonly<Record<string, unknown>> {
  const changes = trace.slice(0, step + 1).map((entry) => entry.variables ?? {});
  return Object.assign({}, args, variables, ...changes) as Readonly<Record<string, unknown>>;
}
