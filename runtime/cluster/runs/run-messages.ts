/** Runs of other nodes: messages to them, and the wait for their end. */
import { setTimeout as delay } from 'node:timers/promises';
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import { ScenarioError } from '../../language/index.ts';
import {
  type AwaitedRun,
  type Message,
  type Run,
  type RunBook,
  type RunsElsewhere,
  type Sensitive,
  told,
} from '../../runs/index.ts';
import { NodeGoneError } from '../errors.ts';
import type { Nodes } from '../nodes.ts';

const SEND = 'runs.send';
const FIND = 'runs.find';
const SETTLED = 'runs.settled';
/** Milliseconds for the end of a run: a block waits for a week at most. */
const WAIT_MS = 605_000_000;
/** Milliseconds before a node is asked again that could not be reached. */
const RETRY_MS = 1000;
/** Looks for a run whose node died, and milliseconds between two. */
const LOOKS = 10;
const LOOK_MS = 300;

interface Asked {
  readonly domain: string;
  readonly run: string;
}

type Outcome = Awaited<AwaitedRun['settled']>;

/** The end of a run, as its node tells it. */
interface End {
  readonly outcome: Outcome;
  readonly secrets: readonly string[];
}

/** Asks the other nodes for runs that this node does not have, and answers them. */
export class RunMessages implements RunsElsewhere {
  readonly #book: RunBook;
  readonly #nodes: Nodes;

  constructor(book: RunBook, nodes: Nodes) {
    this.#book = book;
    this.#nodes = nodes;
    const own = (asked: unknown) => {
      const { domain, run } = asked as Asked;
      return book.known(asDomainName(domain), run);
    };
    nodes.serve(SEND, (asked) => {
      const { domain, run, message } = asked as Asked & { readonly message: Message };
      const found = book.get(run);
      return found?.domain === asDomainName(domain) && found.send(message);
    });
    nodes.serve(FIND, (asked) => own(asked)?.program.id ?? null);
    nodes.serve(SETTLED, async (asked): Promise<End | null> => {
      const run = own(asked);
      return run === undefined ? null : await endOf(run);
    });
    book.elsewhere = this;
  }

  async send(domain: DomainName, to: string, message: Message, sensitive: Sensitive): Promise<boolean> {
    const secrets = sensitive.within(message.data);
    const sent = { ...message, ...(secrets.length > 0 && { secrets }) };
    return (await this.#nodes.askAll<boolean>(SEND, { domain, run: to, message: sent })).some(({ answer }) => answer);
  }

  async find(
    domain: DomainName,
    id: string,
    sensitive: Sensitive,
    signal: AbortSignal,
  ): Promise<AwaitedRun | undefined> {
    const found = await this.#find(domain, id);
    if (found === undefined) return undefined;
    const settled = this.#settled({ domain, run: id }, found.node, signal).then(({ outcome, secrets }) => {
      for (const secret of secrets) sensitive.add(secret);
      return outcome;
    });
    // The wait may have ended by its signal.
    settled.catch(() => undefined);
    return { program: { id: found.scenario }, settled };
  }

  async #find(
    domain: DomainName,
    run: string,
  ): Promise<{ readonly node: string; readonly scenario: string } | undefined> {
    const answers = await this.#nodes.askAll<string | null>(FIND, { domain, run });
    for (const { id, answer } of answers) if (answer !== null) return { node: id, scenario: answer };
    return undefined;
  }

  /** A wait outlasts NATS; the death of the node ends it. */
  async #settled(asked: Asked, node: string, signal: AbortSignal): Promise<End> {
    for (;;) {
      try {
        const end = (await this.#nodes.ask(node, SETTLED, asked, WAIT_MS)) as End | null;
        if (end !== null) return end;
        throw new ScenarioError('no_such_run', `the run "${asked.run}" ended while its node could not be reached`);
      } catch (error) {
        if (error instanceof NodeGoneError) return await this.#settledElsewhere(asked, signal);
        if (!(error instanceof ScenarioError) || error.code !== 'node_unreachable') throw error;
      }
      await delay(RETRY_MS, undefined, { signal, ref: false });
    }
  }

  /** Its node died: another one may go on with it soon. */
  async #settledElsewhere(asked: Asked, signal: AbortSignal): Promise<End> {
    for (let look = 0; look < LOOKS; look += 1) {
      await delay(LOOK_MS, undefined, { signal, ref: false });
      const own = this.#book.known(asDomainName(asked.domain), asked.run);
      if (own !== undefined) return await endOf(own);
      const found = await this.#find(asDomainName(asked.domain), asked.run).catch(() => undefined);
      if (found !== undefined) return await this.#settled(asked, found.node, signal);
    }
    throw new ScenarioError('no_such_run', `the node of the run "${asked.run}" died`);
  }
}

async function endOf(run: Pick<Run, 'settled' | 'sensitive'>): Promise<End> {
  const { value, error } = await run.settled;
  const outcome = { ...(value !== undefined && { value }), ...(error && { error }) };
  return { outcome, secrets: run.sensitive.within(told(outcome)) };
}
