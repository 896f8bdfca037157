/** What a new domain begins with, so that its people can log in and its phones have more than each other. */

/** The role of people who make calls: their own calls and conferences. Those of the domain are for administrators. */
export const USER_ROLE = {
  code: 'user',
  name: 'Makes calls',
  grants: [
    { path: '/uc/conferences_by_participation/**', methods: ['*'] },
    { path: '/user/**', methods: ['*'] },
  ],
};

/** Dial prefixes. None lets a phone start any scenario by its code. */
export const NEW_FEATURE_CODES = [
  { prefix: '*8', type: 'pickup' },
  { prefix: '*31', type: 'clir' },
  { prefix: '*43', type: 'ivr', opts: { code: 'echo' } },
  { prefix: '*70', type: 'conference' },
  { prefix: '*80', type: 'intercom' },
] as const;

/** The same as one line of text: `*8 pickup, *43 echo`. */
export function featureCodesText(): string {
  return NEW_FEATURE_CODES.map((each) => `${each.prefix} ${'opts' in each ? each.opts.code : each.type}`).join(', ');
}
