import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { plainText, type Value } from '../../runtime/language/index.ts';

export const switchComponent = defineComponent({
  name: 'switch',
  summary: 'Goes one of several ways, by a value.',
  otherNames: ['case', 'match'],
  docs: 'The exits are the values: the exit equal to the value, as a text, is taken, else `else`.',
  settings: Type.Object({ value: Type.Any({ examples: ['${department}'], description: 'The value to compare.' }) }),
  shorthand: 'value',
  exits: { else: { description: 'None of the values.' } },
  openExits: { of: 'value', pattern: /^.{1,128}$/, description: 'The value is this.' },
  results: {},
  method: false,
  check: ({ value }, exits) => [
    ...([...exits].some((exit) => exit !== 'else' && exit !== 'error')
      ? []
      : ['"switch" has no value: name an exit by one, e.g. exits: {sales: ring_sales, else: end}']),
    ...(value === undefined
      ? []
      : [`"switch" looks at the text "${plainText(value as Value)}", which is always the same; write switch: \${...}`]),
  ],
  run: async ({ exits }, { value }) => {
    const text = plainText((value ?? null) as Value);
    return { exit: exits.has(text) && text !== 'error' ? text : 'else' };
  },
});
