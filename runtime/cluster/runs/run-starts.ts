/** Starts of runs at the node that has room. */
import { asDomainName } from '../../domain-name/index.ts';
import { ArgumentError } from '../../language/index.ts';
import type { HookRequest, HookResult, ScenarioStarter, StartsElsewhere } from '../../runs/index.ts';
import { NodeGoneError } from '../errors.ts';
import type { Membership } from '../members/membership.ts';
import { type Nodes, unreachable } from '../nodes.ts';

const START = 'runs.start';
/** Milliseconds for a start, beside the wait for the end of the run. */
const START_MS = 5000;

interface Answer {
  readonly result?: HookResult;
  readonly invalid?: { readonly field: string; readonly reason: string };
}

interface Asked extends HookRequest {
  readonly code: string;
}

/** Asks the nodes for a start, those with the fewest runs first. */
export class RunStarts implements StartsElsewhere {
  readonly #nodes: Nodes;
  readonly #members: Membership;

  constructor(nodes: Nodes, members: Membership) {
    this.#nodes = nodes;
    this.#members = members;
  }

  /** Also answers the other nodes from now on. */
  serve(starter: Pick<ScenarioStarter, 'startHere'>): void {
    this.#nodes.serve(START, async (asked): Promise<Answer> => {
      const { code, domain, ...request } = asked as Asked;
      try {
        return { result: await starter.startHere(code, { ...request, domain: asDomainName(domain) }) };
      } catch (error) {
        if (!(error instanceof ArgumentError)) throw error;
        return { invalid: { field: error.field, reason: error.reason } };
      }
    });
  }

  async start(code: string, request: HookRequest): Promise<HookResult | undefined> {
    const accepting = this.#members.accepting('ivr').toSorted((a, b) => a.load.runs - b.load.runs);
    for (const { id } of accepting) {
      const asked: Asked = { ...request, code };
      const { result, invalid } = await this.#ask(id, asked);
      if (invalid !== undefined) throw new ArgumentError(invalid.field, invalid.reason);
      if (result?.kind === 'started') return result;
    }
    return undefined;
  }

  /** @throws OperationError `node_unreachable`: nobody knows whether it has started */
  async #ask(id: string, asked: Asked): Promise<Answer> {
    try {
      return (await this.#nodes.ask(id, START, asked, asked.waitMs + START_MS)) as Answer;
    } catch (error) {
      throw error instanceof NodeGoneError ? unreachable(error) : error;
    }
  }
}
