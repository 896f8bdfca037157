import { stringify } from 'yaml';
import type { RunView } from '../runner.ts';
import { plainText } from '../values.ts';
import { INTERRUPTED, type TraceEntry } from '../run/trace.ts';

/** Components that listen to the other party, and the result in which the keys are. */
const LISTENING: Readonly<Record<string, string>> = { collect: 'digits', menu: 'digit', play: 'digit', say: 'digit' };

/**
 * A scripted-caller test that does what the caller of a finished run did, and expects what happened. Silence and the
 * wrong keys within one block are not in a trace: the last key of a menu is pressed.
 */
export function asTest(view: RunView): string {
  const { id, scenario, trace, outcome } = view;
  const main = trace.filter(({ branch }) => branch === 'main');
  const steps = [...main.flatMap(deed), ...hangUp(main, outcome?.reason)];
  const phones = Object.assign({}, ...main.map(phone)) as Record<string, string>;
  const exits = Object.fromEntries(trace.map(({ block, exit }) => [block, exit ?? '']));
  const test = {
    name: `as in run ${id}`,
    ...(Object.keys(phones).length === 0 ? {} : { phones }),
    ...(steps.length === 0 ? {} : { steps }),
    expect: {
      ...(outcome ? { status: outcome.status } : {}),
      path: trace.map(({ block }) => block),
      exits,
      ...(outcome?.error ? { error: outcome.error.code } : {}),
      ...(outcome && Object.keys(outcome.result).length > 0 ? { result: outcome.result } : {}),
    },
  };
  return stringify({ scenario: `${scenario}.yaml`, tests: [test] });
}

type Step = string | Record<string, string>;

function deed({ component, exit, result, milliseconds = 0, interrupt }: TraceEntry): Step[] {
  if (interrupt !== undefined) return interrupted(interrupt, milliseconds);
  const field = LISTENING[component];
  if (component === 'record') return [{ says: 'x'.repeat(Math.max(1, Math.round(milliseconds / 60))) }];
  if (field === undefined || exit === INTERRUPTED) return [];
  const keys = `${plainText(result?.[field] ?? '')}${plainText(result?.['terminator'] ?? '')}`;
  if (keys !== '') return [{ presses: keys }];
  return component === 'collect' || component === 'menu' ? ['silence'] : [];
}

function interrupted(interrupt: string, milliseconds: number): Step[] {
  const [kind, key = ''] = interrupt.split(' ');
  const after = `${milliseconds}ms`;
  if (kind === 'dtmf') return [{ presses: key, after }];
  if (kind === 'hold') return [{ holds: after }];
  if (kind === 'unhold') return [{ resumes: after }];
  return kind === 'hangup' ? [{ hangs_up: after }] : [];
}

function hangUp(main: readonly TraceEntry[], reason: string | undefined): Step[] {
  const last = main.at(-1);
  if (reason?.startsWith('opponent') !== true || last?.exit !== INTERRUPTED) return [];
  return [{ hangs_up: `${last.milliseconds ?? 0}ms` }];
}

/** What a number that was called did. */
function phone({ answers = [] }: TraceEntry): Record<string, string> {
  const phones: Record<string, string> = {};
  for (const { party, line } of answers) {
    const status = Number(line.split(' ')[1]);
    if (!/^\d+$/.test(party) || status < 200) continue;
    phones[party] = status < 300 ? 'answers' : status === 408 ? 'no answer' : String(status);
  }
  return phones;
}
