/** Figures of ended runs, for counts by scenario. */
import type { DomainName } from '../domain-name/index.ts';
import type { ScriptUsage } from '../sandbox/index.ts';
import type { RunOutcome } from './run/outcome.ts';
import type { RunView } from './run-view.ts';

/** Time in one block of a run. */
export interface BlockFigures {
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
}

/** Figures of one ended run. */
export interface RunFigures {
  readonly domain: DomainName;
  readonly scenario: string;
  /** Number of its version. */
  readonly version: string;
  readonly status: RunOutcome['status'];
  /** Error code of a failed run. */
  readonly code: string | undefined;
  readonly milliseconds: number;
  /** Time in its blocks by name, of a module in its functions; of a long run, in those that the trace has kept. */
  readonly blocks: ReadonlyMap<string, BlockFigures>;
  /** Processor time of its scripts. */
  readonly cpuMs: number;
  /** Greatest memory of one of its scripts. */
  readonly memoryBytes: number;
}

/** The figures of an ended run, and of the ended scenarios that it started. */
export function figuresOf({
  domain,
  scenario,
  version,
  trace,
  outcome,
  children = [],
}: RunView): readonly RunFigures[] {
  const nested = children.flatMap(figuresOf);
  if (outcome === undefined) return nested;
  const { status, error, milliseconds, usage } = outcome;
  const blocks = new Map<string, BlockFigures>();
  for (const { block, milliseconds: took } of trace) {
    if (took === undefined) continue;
    const { count, totalMs, longestMs } = blocks.get(block) ?? { count: 0, totalMs: 0, longestMs: 0 };
    blocks.set(block, { count: count + 1, totalMs: totalMs + took, longestMs: Math.max(longestMs, took) });
  }
  const usages = [usage, ...trace.map((entry) => entry.usage)].filter(
    (each): each is ScriptUsage => each !== undefined,
  );
  const own = {
    domain,
    scenario,
    version,
    status,
    code: error?.code,
    milliseconds,
    blocks,
    cpuMs: usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    memoryBytes: usages.reduce((most, { memoryBytes }) => Math.max(most, memoryBytes), 0),
  };
  return [own, ...nested];
}
