/** All pages, in the order of the navigation. A page is loaded when it is first opened; README.md says how to add one. */
import type { ComponentType } from 'preact';
import type { Route } from './lib/router.ts';
import type { words } from './words/pages.ts';

export interface PageProps {
  /** Segments of the address after the page's own, as the id of a call. */
  readonly rest: readonly string[];
  readonly query: Route['query'];
}

export interface Page {
  /** First segment of its address. */
  readonly path: string;
  readonly group: 'operate' | 'author' | 'mine';
  readonly title: Parameters<typeof words>[0];
  /** The second key after `g`. */
  readonly key?: string;
  /** A GET below `/rest/v1` that the page lives on: it is offered to people whose roles allow this request. */
  readonly needs?: string;
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
}

export const PAGES: readonly Page[] = [
  {
    path: 'calls',
    group: 'operate',
    title: 'calls',
    key: 'c',
    needs: '/uc/calls',
    load: () => import('./pages/calls/calls-page.tsx'),
  },
  {
    path: 'conferences',
    group: 'operate',
    title: 'conferences',
    key: 'f',
    needs: '/uc/conferences',
    load: () => import('./pages/conferences/conferences-page.tsx'),
  },
  {
    path: 'history',
    group: 'operate',
    title: 'history',
    key: 'h',
    needs: '/uc/history',
    load: () => import('./pages/history/history-page.tsx'),
  },
  {
    path: 'figures',
    group: 'operate',
    title: 'figures',
    key: 'm',
    needs: '/uc/calls',
    load: () => import('./pages/figures/figures-page.tsx'),
  },
  {
    path: 'registrations',
    group: 'operate',
    title: 'registrations',
    key: 'r',
    needs: '/domain/registrations',
    load: () => import('./pages/registrations/registrations-page.tsx'),
  },
  {
    path: 'trunks',
    group: 'operate',
    title: 'trunks',
    key: 't',
    needs: '/domain/providers',
    load: () => import('./pages/trunks/trunks-page.tsx'),
  },
  {
    path: 'operations',
    group: 'operate',
    title: 'operations',
    key: 'o',
    needs: '/uc/operations',
    load: () => import('./pages/operations/operations-page.tsx'),
  },
  {
    path: 'nodes',
    group: 'operate',
    title: 'nodes',
    key: 'n',
    needs: '/api/cluster',
    load: () => import('./pages/nodes/nodes-page.tsx'),
  },
  {
    path: 'scenarios',
    group: 'author',
    title: 'scenarios',
    key: 's',
    needs: '/domain/ivrscripts',
    load: () => import('./pages/scenarios/scenarios-page.tsx'),
  },
  {
    path: 'runs',
    group: 'author',
    title: 'runs',
    key: 'u',
    needs: '/api/runs',
    load: () => import('./pages/runs/runs-page.tsx'),
  },
  {
    path: 'my-calls',
    group: 'mine',
    title: 'myCalls',
    key: 'y',
    needs: '/user/sip/calls',
    load: () => import('./pages/mine/my-calls-page.tsx'),
  },
  {
    path: 'my-history',
    group: 'mine',
    title: 'myHistory',
    key: 'p',
    needs: '/user/sip/history',
    load: () => import('./pages/mine/my-history-page.tsx'),
  },
  {
    path: 'my-rooms',
    group: 'mine',
    title: 'myRooms',
    key: 'e',
    needs: '/uc/conferences_by_participation',
    load: () => import('./pages/mine/my-rooms-page.tsx'),
  },
  {
    path: 'voicemail',
    group: 'mine',
    title: 'voicemail',
    key: 'v',
    needs: '/user/sip/voicemessages',
    load: () => import('./pages/mine/voicemail-page.tsx'),
  },
  {
    path: 'account',
    group: 'mine',
    title: 'account',
    key: 'a',
    load: () => import('./pages/mine/account-page.tsx'),
  },
];

/** Drawers at the right edge, which stay open from page to page. */
export interface Drawer {
  readonly id: string;
  readonly title: Parameters<typeof words>[0];
  /** Opens and closes it. */
  readonly key: string;
  readonly needs?: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export const DRAWERS: readonly Drawer[] = [
  { id: 'phone', title: 'phone', key: 'p', load: () => import('./shell/phone-drawer.tsx') },
];
