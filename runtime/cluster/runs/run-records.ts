/** The live runs of all nodes. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { RunView, ScenarioRunner } from '../../runs/index.ts';
import type { Nodes } from '../nodes.ts';

const LIST = 'runs.list';
const READ = 'runs.read';
/** Milliseconds for a list of some 10,000 runs. */
const LIST_MS = 10_000;

/** Runs with their traces, as REST reads them. */
export class RunRecords {
  readonly #local: ScenarioRunner;
  readonly #nodes: Nodes;

  /**
   * Also answers the other nodes from now on.
   * @param flush writes the runs that have ended here
   */
  constructor(local: ScenarioRunner, nodes: Nodes, flush: () => Promise<void>) {
    this.#local = local;
    this.#nodes = nodes;
    nodes.serve(LIST, async (asked) => {
      const runs = local.inProgress(domainIn(asked)).map(({ children: _children, ...run }) => ({ ...run, trace: [] }));
      await flush();
      return runs;
    });
    nodes.serve(READ, (asked) => {
      const run = local.read((asked as { readonly id: string }).id);
      return run?.domain === domainIn(asked) ? run : null;
    });
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

  /**
   * The runs of a domain in progress, of all nodes, the other nodes' without their steps. All others are in the history then.
   * @throws OperationError `node_unreachable`
   */
  async inProgress(domain: DomainName): Promise<readonly RunView[]> {
    const others = await this.#nodes.askAll<readonly RunView[]>(LIST, { domain }, LIST_MS);
    const all = [this.#local.inProgress(domain), ...others.map(({ answer }) => answer)].flat();
    return all.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0));
  }

  /** Debuggers connect to this node. */
  readonly debug: ScenarioRunner['debug'] = (...asked) => this.#local.debug(...asked);
  readonly debugged: ScenarioRunner['debugged'] = (domain) => this.#local.debugged(domain);
  readonly undebug: ScenarioRunner['undebug'] = (code, domain) => this.#local.undebug(code, domain);
}

function domainIn(asked: unknown): DomainName {
  return asDomainName((asked as { readonly domain: string }).domain);
}
