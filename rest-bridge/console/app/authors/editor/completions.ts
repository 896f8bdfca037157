/** Completion: of YAML from the schema of scenario files, of modules from the list of their functions. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { read } from '../../lib/api.ts';
import type { Format } from '../scenario-types.ts';
import { blocksOf, type Schema, type Word, wordsAt } from './schema-words.ts';
import { placeOf } from './yaml-place.ts';

interface ModuleFunction {
  readonly name: string;
  readonly component: string;
  readonly summary: string;
}

/** Read once; a failure is tried again at the next completion. */
function once<T>(path: string): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => {
    found ??= read<T>(path);
    found.catch(() => {
      found = undefined;
    });
    return found;
  };
}

const schema = once<Schema>('/scenario-schema.json');
const functions = once<readonly ModuleFunction[]>('/scenario-functions.json');

export async function completions(context: CompletionContext, format: Format): Promise<CompletionResult | null> {
  return format === 'yaml' ? await ofYaml(context) : await ofModule(context);
}

async function ofYaml(context: CompletionContext): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  const place = placeOf(text, context.pos);
  if (place === undefined || (place.word === '' && !context.explicit)) return null;
  const found = wordsAt(await schema(), place, blocksOf(text));
  return { from: context.pos - place.word.length, options: found.map(option), validFor: /^[\w.-]*$/ };
}

function option({ word, kind, about }: Word): Completion {
  const type = { key: 'property', value: 'enum', block: 'variable' }[kind];
  return {
    label: word,
    type,
    ...(kind === 'key' && { apply: `${word}: ` }),
    ...(about !== undefined && { info: about }),
  };
}

async function ofModule(context: CompletionContext): Promise<CompletionResult | null> {
  const typed = context.matchBefore(/[\w.]+/);
  if (typed === null && !context.explicit) return null;
  const argument = await ofArgument(context);
  if (argument !== null) return argument;
  const options = (await functions()).map(
    ({ name, summary }): Completion => ({ label: name, type: 'function', info: summary, apply: `${name}(` }),
  );
  return { from: typed?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
}

/** The settings of a component in `call.play({ … })`. */
async function ofArgument(context: CompletionContext): Promise<CompletionResult | null> {
  const before = context.state.sliceDoc(Math.max(0, context.pos - 2_000), context.pos);
  const [, name, inside = ''] = /\b((?:\w+\.)\w+)\(\{([^{}()]*)$/.exec(before) ?? [];
  const [, word] = /(?:^|,)\s*(\w*)$/.exec(inside) ?? [];
  if (name === undefined || word === undefined) return null;
  const component = (await functions()).find((each) => each.name === name)?.component;
  if (component === undefined) return null;
  const given = [...inside.matchAll(/(\w+)\s*:/g)].map(([, key = '']) => key);
  const place = { path: ['blocks', 'x', component], siblings: given, key: undefined, word };
  const found = wordsAt(await schema(), place, []);
  return { from: context.pos - word.length, options: found.map(option), validFor: /^\w*$/ };
}
