/** What the host and the nursery tell each other, over the channel of a child process of Node.js. */

export type ToNursery =
  | { readonly type: 'start'; readonly id: number; readonly args: readonly string[] }
  | { readonly type: 'kill'; readonly id: number };

export type FromNursery =
  /** Comes with the line to the process. */
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  /** What it wrote to its error output. */
  | { readonly type: 'words'; readonly id: number; readonly text: string }
  | { readonly type: 'gone'; readonly id: number; readonly reason: string };
