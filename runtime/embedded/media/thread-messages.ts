import type { ProgramInput } from '../../processes/index.ts';
import type { MediaServerStats } from './options.ts';

/** What the owner asks of the media thread. */
export type ToThread =
  | { readonly type: 'stats'; readonly id: number }
  /** A program has ended: what it gave, if it did its work. */
  | { readonly type: 'ran'; readonly id: number; readonly output: Uint8Array | undefined }
  | { readonly type: 'close' };

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
  /** A program is to be run, or is not needed any more: the owner has it started without holding up any thread. */
  | { readonly type: 'run'; readonly id: number; readonly work: ProgramInput }
  | { readonly type: 'stop'; readonly id: number }
  | { readonly type: 'closed' };
