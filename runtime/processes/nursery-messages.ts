/** Messages between the owner and the nursery, over the channel of a Node.js child process. */

/**
 * A process to start. Its file descriptor 3 is the line to its requester. During the transfer, the line would lose
 * output: the process begins when its standard input ends.
 */
export interface Order {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its priority, see setpriority(2); never above the nursery's. */
  readonly nice?: number;
  /** True: it gets its own session with this priority; its descendants are killed with it. */
  readonly group?: boolean;
}

export type ToNursery =
  | ({ readonly type: 'start'; readonly id: number } & Order)
  /** The line has arrived. */
  | { readonly type: 'got'; readonly id: number }
  | { readonly type: 'kill'; readonly id: number };

export type FromNursery =
  /** Sent with the line to the process. */
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  /** Error output of the process. */
  | { readonly type: 'words'; readonly id: number; readonly text: string }
  /** `reason`: e.g. `ended with code 1`; `ok`: true for code 0. */
  | { readonly type: 'gone'; readonly id: number; readonly reason: string; readonly ok: boolean };
