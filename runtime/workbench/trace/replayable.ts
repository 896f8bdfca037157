import type { RunView, TraceEntry } from '../../runs/index.ts';

/** A run that cannot become a test, because a test cannot express what decided its path. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
  readonly code = 'not_replayable';
  /** The block; empty: the whole run. */
  readonly block: string;
  readonly reason: string;

  constructor(block: string, reason: string) {
    super(`no test can be made of this run: ${block === '' ? '' : `block ${block}: `}${reason}`);
    this.block = block;
    this.reason = reason;
  }
}

/** Errors from outside the scenario, with their descriptions. */
const OUTSIDE: Readonly<Record<string, string>> = {
  unavailable: 'the node lacked something that simulations have',
  internal: 'something failed in the node',
  sandbox_lost: 'the process of the script was lost',
  model_refused: 'the data model refused what simulations accept',
  model_unknown_class: 'the data model has no such class, simulations have any',
  dialog_not_found: 'the live call was not there, in simulations any id is one',
  not_applicable: 'the live call could not take it, in simulations any call can',
  slot_taken: 'another caller was parked there',
  queue_full: 'the queue was full of others',
};

/** Errors of the data model, which simulations with the classes of the domain have, too. */
const OF_CLASSES: ReadonlySet<string> = new Set(['model_refused', 'model_unknown_class']);

/** Exits decided from outside, which simulations cannot take unless another run of the family causes them. */
const BY_OTHERS: Readonly<
  Record<string, { readonly exit: string; readonly by: string | undefined; readonly what: string }>
> = {
  receive: { exit: 'next', by: 'send', what: 'the message came from an unrelated run' },
  wait_event: { exit: 'next', by: 'publish', what: 'the event came from outside' },
  park: { exit: 'retrieved', by: 'retrieve', what: 'another party got the parked call' },
  retrieve: { exit: 'answered', by: 'park', what: 'the parked call came from outside' },
  conference: { exit: 'refused', by: undefined, what: 'the room refused, in simulations every room is open' },
  send_sip: { exit: 'refused', by: undefined, what: 'the phone did not take it, in simulations it takes all' },
  join: { exit: 'refused', by: undefined, what: 'the live call could not be joined, in simulations any can' },
  detect_machine: { exit: 'unsure', by: undefined, what: 'what was said has no clear shape, in simulations it has' },
  queue: {
    exit: 'announce',
    by: undefined,
    what: 'others were in the queue before, or no agent was free; write queues: { NAME: [20s] } or agents: by hand',
  },
};

/**
 * Checks that a test can repeat the run.
 * @param hasClasses the test has the classes of the domain
 * @throws ReplayError
 */
export function expectReplayable(view: RunView, hasClasses: boolean): void {
  const all = entriesOf(view);
  const [first] = view.trace;
  if (first && first.step !== 1)
    throw new ReplayError(
      '',
      `it took ${view.trace.at(-1)?.step ?? 0} steps, and the trace keeps no more than the last of them`,
    );
  if (view.outcome?.status === 'stopped' && !all.some(({ component }) => component === 'stop'))
    throw new ReplayError('', `it was stopped from outside (${view.outcome.reason ?? 'no reason told'})`);
  for (const entry of all) expectEntry(entry, all, hasClasses);
}

function expectEntry(entry: TraceEntry, all: readonly TraceEntry[], hasClasses: boolean): void {
  const { block, component, error, exit, interrupt = '' } = entry;
  if (entry.sensitive === true)
    throw new ReplayError(
      block,
      'its answer is sensitive and not in the trace; write the test by hand, with made-up digits',
    );
  const isKnown = error !== undefined && hasClasses && OF_CLASSES.has(error.code);
  const outside = error && !isKnown && !isAnswer(component) ? OUTSIDE[error.code] : undefined;
  if (outside !== undefined) throw new ReplayError(block, `${outside} (${error?.code}: ${error?.message})`);
  const others = BY_OTHERS[component];
  if (others !== undefined && others.exit === exit && !all.some((each) => each.component === others.by))
    throw new ReplayError(block, others.what);
  for (const what of [interrupt, ...(entry.told ?? []).map((told) => told.what)]) {
    const [kind = '', name = ''] = what.split(' ');
    if (kind === 'sip') throw new ReplayError(block, `the phone sent ${name}, which no step of a test can do`);
    if (kind === 'message' && !all.some((each) => each.component === 'send'))
      throw new ReplayError(block, `the message ${name} came from an unrelated run`);
  }
}

/** True for components whose errors the test provides. */
function isAnswer(component: string): boolean {
  return component === 'http' || component.startsWith('operation.');
}

function entriesOf({ trace, children = [] }: RunView): readonly TraceEntry[] {
  return [...trace, ...children.flatMap(entriesOf)];
}
