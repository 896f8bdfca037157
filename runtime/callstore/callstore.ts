/** The interface of the store of live dialogs. */
import type { DomainName } from '../domain-name/index.ts';
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
 * Selects dialogs by exactly one key, the one with the highest priority. `mode` belongs to `from`: `number` (default)
 * searches the number and the login of its sipuser; `sipuser` searches the login only.
 */
export type DialogSelector = Partial<Record<SelectorKey, string>> & { mode?: 'number' | 'sipuser' };

/** Visible dialogs: all with a leg of the domain, or among those the user's own. */
export interface DialogScope {
  readonly domain: DomainName;
  /** Restricts to dialogs with a sipuser of this user. */
  readonly ownUserId?: string;
}

/**
 * Finds live dialogs. Asynchronous, and entries name their node, so that a store shared by several nodes can implement
 * it.
 */
export interface CallStore {
  /** All live dialogs of a scope, oldest first. The time depends on their number, not on that of all dialogs. */
  list(scope: DialogScope): Promise<readonly DialogView[]>;
  /** One dialog of the scope, or undefined. Constant time. */
  read(scope: DialogScope, dialogid: string): Promise<DialogView | undefined>;
  /** Ids of the selected dialogs in the scope, oldest first; possibly empty. Constant time. */
  lookup(scope: DialogScope, selector: DialogSelector): Promise<readonly string[]>;
}
