/** Messages between the node, its PGlite worker and the cluster process; all plain data. */
import type { SqlErrorFields } from '../errors.ts';

/** A template to unpack. */
export interface Unpacking {
  readonly file: string;
  /** Name of the folder until it is complete. */
  readonly unfinished: string;
}

export interface EngineWorkerData {
  /** The cluster's folder. */
  readonly directory: string;
  /** For a missing cluster. */
  readonly template: Unpacking | undefined;
  /** Shared memory of the worker's progress: see `Progress`. */
  readonly progress: SharedArrayBuffer;
}

export type EngineRequest =
  | { readonly type: 'query'; readonly sql: string; readonly parameters: readonly (string | null)[] }
  /** Single statements as consecutive bytes of PostgreSQL's protocol, and the end of each. */
  | { readonly type: 'run'; readonly bytes: Uint8Array<ArrayBuffer>; readonly ends: readonly number[] }
  | { readonly type: 'close' };

export interface EngineResult {
  readonly rows: readonly unknown[];
  readonly affectedRows: number | undefined;
  /** First word of the command tag, e.g. `COMMIT`. */
  readonly command: string | undefined;
}

export type EngineReply =
  | { readonly type: 'ready' }
  | { readonly type: 'unopened'; readonly message: string }
  | { readonly type: 'result'; readonly result: EngineResult }
  | { readonly type: 'refused'; readonly error: SqlErrorFields }
  /** PostgreSQL's replies to the next running statements, in order. */
  | { readonly type: 'ran'; readonly replies: readonly Uint8Array[] }
  | { readonly type: 'closed' };

export interface ClusterOrder {
  /** Folder of the new cluster; must not exist. */
  readonly target: string;
  /** Template to unpack, made if missing, and its temporary name; undefined: no template. */
  readonly template: { readonly file: string; readonly unfinished: string } | undefined;
}

export type ClusterReply = { readonly type: 'made' } | { readonly type: 'failed'; readonly message: string };
