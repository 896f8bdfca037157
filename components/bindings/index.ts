import { Type } from 'typebox';
import { defineComponent, liveDialog, notApplicable } from '../../runtime/runs/index.ts';

/** Labels stay with a call and with all calls that transfers make of it. */
const MAX_LABELS = 256;
const COMMANDS = ['get', 'set', 'add', 'remove', 'clean', 'contains'] as const;

export const bindings = defineComponent({
  name: 'bindings',
  summary: 'Reads or changes the labels of a live call.',
  docs: [
    'Labels stay with a call until it ends, and go on to the call that a transfer makes of it. `set` replaces all labels, `add`',
    'and `remove` change some, `clean` removes all; `contains` tests whether the call has all named labels. A call has at most',
    '256; more fail with the code `not_applicable`.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: Type.String({ minLength: 1, maxLength: 64, examples: ['4f1c09d2ab7e'], description: 'The live call.' }),
    command: Type.Enum(COMMANDS, { default: 'get', description: 'What to do.' }),
    labels: Type.Array(Type.String({ maxLength: 256 }), {
      default: [],
      examples: [['vip']],
      maxItems: 100,
      description: 'The labels that the command is about.',
    }),
  }),
  exits: { next: { description: 'It is done.' } },
  results: {
    labels: { type: 'list', schema: Type.Array(Type.String()), description: 'The labels afterwards.' },
    contains: { type: 'boolean', description: 'Of `contains`: whether all of them are there.' },
  },
  run: async ({ services, domain }, { dialogid, command, labels }) => {
    const dialog = liveDialog(services, domain, dialogid);
    const before = dialog.bindings;
    const after = changed(command, before, labels);
    if (after.length > MAX_LABELS) throw notApplicable('label', `a call has no more than ${MAX_LABELS} labels`);
    if (after !== before) dialog.setBindings(after);
    const contains = command === 'contains' && labels.every((label) => before.includes(label));
    return { exit: 'next', fields: { labels: [...dialog.bindings], contains } };
  },
});

function changed(
  command: (typeof COMMANDS)[number],
  before: readonly string[],
  labels: readonly string[],
): readonly string[] {
  switch (command) {
    case 'get':
    case 'contains':
      return before;
    case 'set':
      return [...new Set(labels)];
    case 'add':
      return [...new Set([...before, ...labels])];
    case 'remove':
      return before.filter((label) => !labels.includes(label));
    case 'clean':
      return [];
    default:
      return command satisfies never;
  }
}
