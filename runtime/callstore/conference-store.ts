import { type DialogScope, type DialogSelector, SELECTOR_KEYS } from './callstore.ts';
import type { ConferenceView } from './conference-view.ts';

/**
 * Keys that find conferences, in descending priority: those of the dialogs find a dialog of which a conference is one
 * side (specification, "Find by key").
 */
export const CONFERENCE_SELECTOR_KEYS = [...SELECTOR_KEYS, 'confid', 'confuri', 'confroomnum', 'confnumber'] as const;
export type ConferenceSelectorKey = (typeof CONFERENCE_SELECTOR_KEYS)[number];

/** Exactly one key is looked at, the one of highest priority that is present. `mode` belongs to `from`. */
export type ConferenceSelector = Partial<Record<ConferenceSelectorKey, string>> & Pick<DialogSelector, 'mode'>;

/** Where the live conferences are found. Asynchronous for the same reason as the `CallStore`. */
export interface ConferenceStore {
  /** All live conferences of a scope, oldest first: of the domain, or those in which a sipuser of the user takes part. */
  list(scope: DialogScope): Promise<readonly ConferenceView[]>;
  /** One conference of the scope, or undefined. */
  read(scope: DialogScope, confid: string): Promise<ConferenceView | undefined>;
  /** Ids of the conferences of the scope that the selector names, oldest first; empty when none. Constant time. */
  lookup(scope: DialogScope, selector: ConferenceSelector): Promise<readonly string[]>;
  /** Whether the selector names a conference that the scope cannot see because it belongs to another domain. */
  isForeign(scope: DialogScope, selector: ConferenceSelector): Promise<boolean>;
  /** How many may still enter a live conference; as many as come where it has no limit. */
  freePlaces(confid: string): Promise<number>;
  /** What is dialled to get into a live conference. */
  numberOf(confid: string): Promise<string | undefined>;
}
