/** Checks the `opts` of featurecodes that the platform reads; other names are free for the domain. */

interface Rule {
  holds(value: unknown): boolean;
  /** Predicate of "must be". */
  readonly is: string;
}

const flag: Rule = { holds: (value) => typeof value === 'boolean', is: 'true or false' };
const text: Rule = { holds: (value) => typeof value === 'string', is: 'a text' };
const pin: Rule = {
  holds: (value) => (typeof value === 'string' || typeof value === 'number') && /^\d{0,32}$/.test(String(value)),
  is: 'up to 32 digits',
};

const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  conference: {
    pin,
    moderator_pin: pin,
    moderators: {
      holds: (value) => Array.isArray(value) && value.every((each) => ['string', 'number'].includes(typeof each)),
      is: 'a list of phone numbers',
    },
    wait_for_moderator: flag,
    end_with_moderator: flag,
    announce_enter: text,
    announce_leave: text,
    pin_prompt: text,
    record: {
      holds: (value) => [true, false, 'none', 'conference', 'participants', 'both'].includes(value as string),
      is: 'none, conference, participants or both',
    },
    max_members: {
      holds: (value) => Number.isInteger(value) && (value as number) >= 0,
      is: 'a whole number from 0 on',
    },
    music: flag,
  },
  ivr: {
    code: { holds: (value) => typeof value === 'string', is: 'the code of a scenario' },
  },
};

/** The first invalid option, and its rule. */
export function wrongOption(
  type: string,
  opts: Readonly<Record<string, unknown>>,
): { readonly field: string; readonly reason: string; readonly value: unknown } | undefined {
  const rules = RULES[type] ?? {};
  for (const [name, value] of Object.entries(opts)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule !== undefined && !rule.holds(value)) return { field: `opts.${name}`, reason: `must be ${rule.is}`, value };
  }
  return undefined;
}
