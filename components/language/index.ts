import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { LANGUAGE } from '../../runtime/language/index.ts';

export const language = defineComponent({
  name: 'language',
  summary: 'Changes the language of the run.',
  otherNames: ['lang', 'set_language', 'locale'],
  docs: [
    'From now on prompts are looked up in this language, and texts are spoken in it. Scenarios that this one starts get it,',
    'too. `scenario.language` is the present one. Where a run has its first language from is in',
    '[prompts and languages](../../docs/scenarios/prompts.md).',
  ].join('\n'),
  settings: Type.Object({
    language: Type.String({
      pattern: LANGUAGE.source,
      maxLength: 64,
      examples: ['de', 'de-AT'],
      description: 'Language tag (BCP 47).',
    }),
  }),
  shorthand: 'language',
  exits: { next: { description: 'It is changed.' } },
  results: { before: { type: 'string', description: 'The language before.' } },
  method: 'scenario.language',
  run: async (context, { language: wanted }) => {
    const before = context.language;
    context.language = wanted;
    return { exit: 'next', fields: { before } };
  },
});
