/** What the owner and the nursery tell each other, over the channel of a child process of Node.js. */

/**
 * A process to start; its file descriptor 3 is the line to whoever asked. On the way there the line loses what it says:
 * its standard input ends when it may begin.
 */
export interface Order {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its priority, see setpriority(2); never above the nursery's. */
  readonly nice?: number;
  /** It has a session of its own, as far behind others as itself; what it starts is killed with it. */
  readonly group?: boolean;
}

export type ToNursery =
  | ({ readonly type: 'start'; readonly id: number } & Order)
  /** The line has come. */
  | { readonly type: 'got'; readonly id: number }
  | { readonly type: 'kill'; readonly id: number };

export type FromNursery =
  /** Comes with the line to the process. */
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  /** What it wrote to its error output. */
  | { readonly type: 'words'; readonly id: number; readonly text: string }
  /** `reason`: `ended with code 1`; `ok`: with code 0. */
  | { readonly type: 'gone'; readonly id: number; readonly reason: string; readonly ok: boolean };
