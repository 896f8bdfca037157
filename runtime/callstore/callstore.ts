import type { DialogView } from './dialog-view.ts';

/** One key of the dialog selectors, in descending priority (specification, "Dialog selectors"). */
export const SELECTOR_KEYS = [
  'dialogid',
  'inviteid',
  'callid',
  'uri',
  'from',
  'sipuserid',
  'sipuserlogin',
  'sipuserphonenumber',
  'userid',
] as const;
export type SelectorKey = (typeof SELECTOR_KEYS)[number];

/**
 * Which dialogs are meant: exactly one key is looked at, the one of highest priority that is present.
 * `mode` belongs to `from`: `number` (default) searches the number and, where a sipuser has it, also its login;
 * `sipuser` searches the login only.
 */
export type DialogSelector = Partial<Record<SelectorKey, string>> & { mode?: 'number' | 'sipuser' };

/** Who may see which dialogs: all that have a leg of the domain, or of those the user's own. */
export interface DialogScope {
  readonly domain: string;
  /** Only dialogs in which a sipuser of this user takes part. */
  readonly ownUserId?: string;
}

/**
 * Where the live dialogs are found. Asynchronous, and an entry names the node that owns it, so that a store shared
 * by several nodes can stand behind the same interface.
 */
export interface CallStore {
  /** All live dialogs of a scope, oldest first. Takes time by their number, not by the number of all dialogs. */
  list(scope: DialogScope): Promise<readonly DialogView[]>;
  /** One dialog of the scope, or undefined. Constant time. */
  read(scope: DialogScope, dialogid: string): Promise<DialogView | undefined>;
  /** Ids of the dialogs of the scope that the selector names, oldest first; empty when none. Constant time. */
  lookup(scope: DialogScope, selector: DialogSelector): Promise<readonly string[]>;
}
