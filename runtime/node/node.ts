/**
 * A node: its start and its end. The start begins with the threads and processes of the node; the modules of all other parts load
 * while these open.
 */
import type { Config } from '../config/index.ts';
import type { Drain } from './drain.ts';
import { openTracing, setTracing } from '../tracing/index.ts';
import { openLog } from './log.ts';
import { openOutside } from './outside.ts';
import { Shutdown } from './shutdown.ts';

/** A running node. */
export interface Node {
  readonly httpAddress: string;
  /** With a certificate. */
  readonly httpsAddress: string | undefined;
  readonly sipAddress: string;
  /** Of the TLS listeners, comma-separated; may be empty. */
  readonly sipsAddress: string;
  /** URLs of the port for SIP over WebSocket, likewise. */
  readonly webSocketUrls: string;
  /** True when the demo domain exists. */
  readonly demo: boolean;
  /** False when no domain exists: nobody can log in, and no phone can register. */
  readonly hasAccounts: boolean;
  /** Lets the calls of the node end by themselves before it is stopped. */
  readonly drain: Pick<Drain, 'state' | 'begin' | 'over'>;
  /** Writes the log lines of the start that wait for the ready message on a terminal, and later ones at once. */
  showLog(): void;
  /** Ends calls and closes all parts. Idempotent. */
  stop(): Promise<void>;
  /** Settles when an embedded server ended by itself: the node cannot continue. */
  readonly failed: Promise<Error>;
}

/**
 * Starts a node.
 * @throws ListenError for a taken port; StorageLockedError and others of storage; SipLinkError, MediaLinkError
 */
export async function startNode(config: Config): Promise<Node> {
  const traces = config.traces ? await openTracing() : undefined;
  setTracing(traces);
  const { log, show: showLog } = await openLog(config);
  const shutdown = new Shutdown((err, what) => log.error({ err }, `closing ${what} failed`));
  if (traces !== undefined) {
    traces.reportTo((problem) => log.warn({ problem }, 'traces cannot be sent'));
    shutdown.add('traces', () => traces.close());
  }
  const failed = Promise.withResolvers<Error>();
  try {
    const fail = (error: Error): void => {
      if (!shutdown.begun) failed.resolve(error);
    };
    const { compose, ...outside } = await openOutside(config, log, shutdown, fail);
    const composed = await compose({ config, log, shutdown, ...outside });
    // The node is ready without them: runs that need one wait for it.
    outside.sandbox.startAll().catch(fail);
    return { ...composed, showLog, stop: () => shutdown.run(), failed: failed.promise };
  } catch (error) {
    showLog();
    await shutdown.run();
    throw error;
  }
}
