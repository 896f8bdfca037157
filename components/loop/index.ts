import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import type { Value } from '../../runtime/language/index.ts';

/** State of the loop in the memory of its block: the next index. */
const INDEX = 'index';

export const loop = defineComponent({
  name: 'loop',
  summary: 'Goes through a list, or a number of times.',
  otherNames: ['for', 'foreach', 'for_each', 'repeat', 'while'],
  docs: [
    'Lead the last block of the body back to the loop: it leaves by `each` once for every item, then by `done`, and would then',
    'start anew. Read `blockname.item` and `blockname.index`. A body that leads elsewhere leaves the loop at its item; the',
    'loop goes on from there when it is entered again.',
  ].join('\n'),
  settings: Type.Object({
    over: Type.Optional(
      Type.Array(Type.Any(), { maxItems: 10_000, examples: [['101', '102']], description: 'The items.' }),
    ),
    times: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100_000, examples: [3], description: 'How often, in place of a list.' }),
    ),
  }),
  exits: {
    each: { description: 'There is an item.' },
    done: { description: 'There is none left.', otherwise: 'end' },
  },
  results: {
    item: { type: 'any', description: 'The item; without a list the index.' },
    index: { type: 'integer', description: 'Counts from 0.' },
  },
  derives: true,
  bounded: 'each',
  method: false,
  check: (_settings, _exits, given) => {
    if (given.has('over') && given.has('times')) return ['"loop" has both "over" and "times": keep one'];
    return given.has('over') || given.has('times')
      ? []
      : ['"loop" has neither "over" nor "times": name one, e.g. times: 3'];
  },
  run: async ({ memory }, { over, times = 0 }) => {
    const index = (memory.get(INDEX) ?? 0) as number;
    const count = over === undefined ? times : over.length;
    if (index >= count) {
      memory.delete(INDEX);
      return { exit: 'done', fields: { item: null, index } };
    }
    memory.set(INDEX, index + 1);
    const item = over === undefined ? index : (over[index] as Value);
    return { exit: 'each', fields: { item, index } };
  },
});
