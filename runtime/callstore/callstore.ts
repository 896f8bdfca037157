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

/**
 * Where the live dialogs are found. Asynchronous, and an entry names the node that owns it, so that a store shared
 * by several nodes can stand behind the same interface.
 */
export interface CallStore {
  /** All live dialogs of a domain, oldest first. */
  list(domain: string): Promise<readonly DialogView[]>;
  /** One dialog of the domain, or undefined. */
  read(domain: string, dialogid: string): Promise<DialogView | undefined>;
  /** Ids of the dialogs of the domain that the selector names, oldest first; empty when none. Constant time. */
  lookup(domain: string, selector: DialogSelector): Promise<readonly string[]>;
}
