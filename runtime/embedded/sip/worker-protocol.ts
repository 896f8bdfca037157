import type { SipServerStats } from './options.ts';

/** Messages from the handle to the thread. */
export type ToWorker = { readonly type: 'stats'; readonly id: number } | { readonly type: 'close' };

/** Messages from the thread to its handle. */
export type FromWorker =
  | { readonly type: 'listening'; readonly addresses: { readonly app: string; readonly sip: string } }
  | {
      readonly type: 'failed';
      readonly code: string;
      readonly address: string;
      readonly what: string;
      readonly message: string;
    }
  | { readonly type: 'stats'; readonly id: number; readonly stats: SipServerStats }
  | { readonly type: 'closed' };
