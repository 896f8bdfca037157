/** The live runs of all nodes. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { ListType, Pages } from '../../model/index.ts';
import type { RunView, ScenarioRunner } from '../../runs/index.ts';
import type { Nodes } from '../nodes.ts';
import { ClusterPages } from '../pages.ts';

const READ = 'runs.read';

/** A run as lists have it. */
export interface ListedRun {
  readonly id: string;
  readonly ts: number;
}

/** Runs with their traces, as REST reads them. */
export class RunRecords {
  readonly #local: ScenarioRunner;
  readonly #nodes: Nodes;

  /** Also answers the other nodes from now on. */
  constructor(local: ScenarioRunner, nodes: Nodes) {
    this.#local = local;
    this.#nodes = nodes;
    nodes.serve(READ, (asked) => {
      const run = local.read((asked as { readonly id: string }).id);
      return run?.domain === domainIn(asked) ? run : null;
    });
  }

  /**
   * Pages of the runs in progress of all nodes. All others are in the history then. Called once.
   * @param item the form of runs in lists
   * @param flush writes the runs that have ended here
   */
  pages<Item extends ListedRun>(
    type: ListType,
    item: (runs: readonly RunView[], domain: DomainName) => readonly Item[],
    flush: () => Promise<void>,
  ): Pages<DomainName> {
    const items = async (domain: DomainName): Promise<readonly Item[]> => {
      const going = item(this.#local.inProgress(domain), domain);
      await flush();
      return going;
    };
    return new ClusterPages({ name: 'runs', type, items, compare: byBegin }, this.#nodes);
  }

  /** A run of this node, in progress or one of the latest finished ones. */
  read(id: string): RunView | undefined {
    return this.#local.read(id);
  }

  /**
   * The same of another node.
   * @throws OperationError `node_unreachable`
   */
  async readElsewhere(id: string, domain: DomainName): Promise<RunView | undefined> {
    const answers = await this.#nodes.askAll<RunView | null>(READ, { id, domain });
    return answers.find(({ answer }) => answer !== null)?.answer ?? undefined;
  }

  /** The runs of a domain in progress at this node. */
  readonly inProgress: ScenarioRunner['inProgress'] = (domain) => this.#local.inProgress(domain);

  /** Debuggers connect to this node. */
  readonly debug: ScenarioRunner['debug'] = (...asked) => this.#local.debug(...asked);
  readonly debugged: ScenarioRunner['debugged'] = (domain) => this.#local.debugged(domain);
  readonly undebug: ScenarioRunner['undebug'] = (code, domain) => this.#local.undebug(code, domain);
}

function byBegin(a: ListedRun, b: ListedRun): number {
  return a.ts - b.ts || (a.id < b.id ? -1 : 1);
}

function domainIn(asked: unknown): DomainName {
  return asDomainName((asked as { readonly domain: string }).domain);
}
