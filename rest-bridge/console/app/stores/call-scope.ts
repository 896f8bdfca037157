/** Whose calls a page shows: those of the domain, or the person's own. */
import type { CallPath } from './calls.ts';

export interface CallScope {
  readonly calls: CallPath;
  readonly history: '/uc/history' | '/user/sip/history';
  /** Pages of live and of ended calls. */
  readonly pages: { readonly calls: string; readonly history: string };
  /** SIP messages, labels and the log of operations are for administrators. */
  readonly own: boolean;
}

export const DOMAIN_CALLS: CallScope = {
  calls: '/uc/calls',
  history: '/uc/history',
  pages: { calls: 'calls', history: 'history' },
  own: false,
};

export const OWN_CALLS: CallScope = {
  calls: '/user/sip/calls',
  history: '/user/sip/history',
  pages: { calls: 'my-calls', history: 'my-history' },
  own: true,
};
