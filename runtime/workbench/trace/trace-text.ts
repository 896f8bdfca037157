import type { ScriptUsage } from '../../sandbox/index.ts';
import type { RunView } from '../../runs/index.ts';
import { STILL_RUNNING, blockLine, nested, outcomeLines, runHeader } from '../simulation/transcript.ts';

/** The trace of a live or finished run, line by line. */
export function traceText(view: RunView): string[] {
  const { trace, outcome } = view;
  const start = view.start ?? trace[0]?.start ?? 0;
  const lines = [runHeader(view)];
  for (const entry of trace) {
    const { subject } = entry;
    const component = subject === undefined ? entry.component : `${entry.component} ${subject}`;
    lines.push(blockLine({ ...entry, component }, start));
    const { answers = [], log = [], result, usage } = entry;
    for (const { party, line } of answers) lines.push(`${INDENT}${party}: ${line}`);
    for (const line of log) lines.push(`${INDENT}${line}`);
    if (usage) lines.push(usageLine(usage));
    if (result && Object.keys(result).length > 0) lines.push(`${INDENT}${JSON.stringify(result)}`);
  }
  lines.push(...(outcome ? outcomeLines(outcome) : [STILL_RUNNING]));
  // Usage of a module; script blocks show their own.
  if (outcome?.usage) lines.push(usageLine(outcome.usage));
  for (const child of view.children ?? []) lines.push(...nested(traceText(child)));
  return lines;
}

const INDENT = ' '.repeat(14);

function usageLine({ cpuMs, memoryBytes, commands, logLines }: ScriptUsage): string {
  const memory = (memoryBytes / 1_048_576).toFixed(1);
  return `${INDENT}script: ${cpuMs.toFixed(1)} ms CPU, ${memory} MB, ${commands} functions, ${logLines} log lines`;
}
