import { defineComponent } from '../../runtime/runs/index.ts';
import { Assignments, type Value } from '../../runtime/language/index.ts';

export const set = defineComponent({
  name: 'set',
  summary: 'Gives variables new values.',
  otherNames: ['assign', 'let', 'var', 'setvar'],
  docs: 'All values are computed before the first variable changes.',
  settings: Assignments({ description: 'Variables with their new values.' }),
  exits: { next: { description: 'The variables have their values.' } },
  results: {},
  method: false,
  run: async (_, values) => ({ exit: 'next', assign: values as Record<string, Value> }),
});
