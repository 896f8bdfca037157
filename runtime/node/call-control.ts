/** Lists, reads, finds and operations of calls, while a node of the cluster has the role callstore. */
import type { CallStore } from '../callstore/index.ts';
import type { Pages } from '../model/index.ts';
import { OperationError, type Operations } from '../operations/index.ts';

type StartsOperations = Pick<Operations, 'definitions' | 'start' | 'preview'>;

export interface CallControlNeeds {
  readonly calls: CallStore;
  readonly operations: StartsOperations;
  /** Whether a living node has the role. */
  readonly isThere: () => boolean;
  /** False: neither this node nor, through `operations`, another one starts calls. */
  readonly startsCalls: boolean;
}

const RETRY_AFTER_SECONDS = 5;

/** @throws OperationError `node_unreachable` from every method while no node has the role */
export class CallControl {
  readonly calls: CallStore;
  readonly operations: StartsOperations;
  readonly #check: () => void;

  constructor({ calls, operations, isThere, startsCalls }: CallControlNeeds) {
    const check = (): void => {
      if (!isThere()) throw missing('callstore');
    };
    this.#check = check;
    this.calls = {
      list: async (scope) => {
        check();
        return await calls.list(scope);
      },
      read: async (scope, dialogid) => {
        check();
        return await calls.read(scope, dialogid);
      },
      lookup: async (scope, selector) => {
        check();
        return await calls.lookup(scope, selector);
      },
    };
    const checkStart = (name: string): void => {
      const definition = operations.definitions.get(name);
      check();
      if (!startsCalls && definition?.startsCall === true && definition.target === 'none') throw missing('b2b');
    };
    this.operations = {
      definitions: operations.definitions,
      start: async (name, request) => {
        checkStart(name);
        return await operations.start(name, request);
      },
      preview: async (name, request) => {
        checkStart(name);
        return await operations.preview(name, request);
      },
    };
  }

  /** The same for pages of the list. */
  pages<Scope>(pages: Pages<Scope>): Pages<Scope> {
    return {
      page: async (scope, wish) => {
        this.#check();
        return await pages.page(scope, wish);
      },
      count: async (scope, wish) => {
        this.#check();
        return await pages.count(scope, wish);
      },
    };
  }
}

function missing(role: string): OperationError {
  const reason = `no node has the role ${role}; set it in RINGMASTER_ROLES of one`;
  return new OperationError({ kind: 'node_unreachable', reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
