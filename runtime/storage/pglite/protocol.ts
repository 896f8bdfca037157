/** What the node and its PGlite worker and cluster process say to each other; everything is plain data. */
import type { SqlErrorFields } from '../errors.ts';

export interface EngineWorkerData {
  /** The cluster's folder. */
  readonly directory: string;
  /** Where the worker shows which statement it is at: see `Progress`. */
  readonly progress: SharedArrayBuffer;
}

export type EngineRequest =
  | { readonly type: 'query'; readonly sql: string; readonly parameters: readonly (string | null)[] }
  /** Single statements one after another in the bytes of PostgreSQL's protocol, and where each ends. */
  | { readonly type: 'run'; readonly bytes: Uint8Array<ArrayBuffer>; readonly ends: readonly number[] }
  | { readonly type: 'close' };

export interface EngineResult {
  readonly rows: readonly unknown[];
  readonly affectedRows: number | undefined;
  /** The command tag's first word, e.g. `COMMIT`. */
  readonly command: string | undefined;
}

export type EngineReply =
  | { readonly type: 'ready' }
  | { readonly type: 'unopened'; readonly message: string }
  | { readonly type: 'result'; readonly result: EngineResult }
  | { readonly type: 'refused'; readonly error: SqlErrorFields }
  /** What PostgreSQL said to the next statements of those that run, in their order. */
  | { readonly type: 'ran'; readonly replies: readonly Uint8Array[] }
  | { readonly type: 'closed' };

export interface ClusterOrder {
  /** Where the new cluster goes; must not exist. */
  readonly target: string;
  /** A finished cluster to copy, made if missing, and its name until it is finished; undefined: none is kept. */
  readonly template: { readonly folder: string; readonly unfinished: string } | undefined;
}

export type ClusterReply = { readonly type: 'made' } | { readonly type: 'failed'; readonly message: string };
