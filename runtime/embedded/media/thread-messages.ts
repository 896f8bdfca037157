import type { MediaServerStats } from './options.ts';

/** What the owner asks of the media thread. */
export type ToThread = { readonly type: 'stats'; readonly id: number } | { readonly type: 'close' };

/** What the media thread tells its owner. */
export type FromThread =
  | { readonly type: 'listening'; readonly addresses: Readonly<Record<string, string>> }
  | {
      readonly type: 'failed';
      readonly error: {
        readonly name: string;
        readonly message: string;
        readonly code?: string;
        readonly address?: string;
      };
    }
  | { readonly type: 'stats'; readonly id: number; readonly stats: MediaServerStats }
  | { readonly type: 'closed' };
