/** The interface of the store of live conferences. */
import { type DialogScope, type DialogSelector, SELECTOR_KEYS } from './callstore.ts';
import type { ConferenceView } from './conference-view.ts';

/**
 * Conference selectors, in descending priority: dialog selectors select the conference that the dialog is connected to
 * (specification, "Find by key").
 */
export const CONFERENCE_SELECTOR_KEYS = [...SELECTOR_KEYS, 'confid', 'confuri', 'confroomnum', 'confnumber'] as const;
export type ConferenceSelectorKey = (typeof CONFERENCE_SELECTOR_KEYS)[number];

/** Exactly one key is used, the one with the highest priority. `mode` belongs to `from`. */
export type ConferenceSelector = Partial<Record<ConferenceSelectorKey, string>> & Pick<DialogSelector, 'mode'>;

/** Finds live conferences. Asynchronous for the same reason as `CallStore`. */
export interface ConferenceStore {
  /** All live conferences of a scope, oldest first: of the domain, or those with a sipuser of the user. */
  list(scope: DialogScope): Promise<readonly ConferenceView[]>;
  /** One conference of the scope, or undefined. */
  read(scope: DialogScope, confid: string): Promise<ConferenceView | undefined>;
  /** Ids of the selected conferences in the scope, oldest first; possibly empty. Constant time. */
  lookup(scope: DialogScope, selector: ConferenceSelector): Promise<readonly string[]>;
  /** True when the selector names a conference of another domain, hidden from the scope. */
  isForeign(scope: DialogScope, selector: ConferenceSelector): Promise<boolean>;
  /** Remaining places in a live conference; infinite without a limit. */
  freePlaces(confid: string): Promise<number>;
  /** The number to dial to enter a live conference. */
  numberOf(confid: string): Promise<string | undefined>;
}
