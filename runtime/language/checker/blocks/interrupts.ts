import { type Node, isMap, isScalar } from 'yaml';
import { parseDuration } from '../../duration.ts';
import { suggestName } from '../../problem.ts';
import { durationHint } from './duration-hint.ts';
import { INTERRUPT_KINDS, type Interrupt, type InterruptKind } from '../../program.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';

/** An interrupt with the node of its target. */
export interface InterruptDraft extends Interrupt {
  readonly node: Node;
}

/** Kinds that need a name, with a description of that name. */
const NAMES: Partial<Record<InterruptKind, string>> = {
  dtmf: 'a key: 0-9, *, #, A-D',
  message: 'the name of a message',
  sip: 'a SIP method: INFO, MESSAGE or NOTIFY',
  event: 'the name of an event',
  after: 'a duration',
};
const PATTERNS: Partial<Record<InterruptKind, RegExp>> = {
  dtmf: /^[0-9*#A-D]$/,
  sip: /^(INFO|MESSAGE|NOTIFY)$/,
};
const NEEDS_NAME: readonly InterruptKind[] = ['event', 'after'];

/** Reads the section `on`: interrupts of the running block, with their target blocks. */
export function readInterrupts(source: Source, node: Node | null): InterruptDraft[] {
  if (node === null || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) {
    source.problem(node, 'on must be a map', 'e.g. on: { dtmf: { 0: operator } }');
    return [];
  }
  return source.entries(node).flatMap((entry) => {
    const kind = INTERRUPT_KINDS.find((candidate) => candidate === entry.key);
    if (kind) return readKind(source, kind, entry);
    source.problem(entry.keyNode, `there is no interrupt "on ${entry.key}"`, suggestName(entry.key, INTERRUPT_KINDS));
    return [];
  });
}

function readKind(source: Source, kind: InterruptKind, { key, keyNode, value }: Entry): InterruptDraft[] {
  const name = NAMES[kind];
  if (isScalar(value) && value.value !== null) {
    if (!NEEDS_NAME.includes(kind))
      return [{ kind, name: '', target: scalarText(value), milliseconds: 0, node: value }];
    const isName = kind === 'after' && parseDuration(scalarText(value)) !== undefined;
    const pair = isName ? `${scalarText(value)}: BLOCK` : `NAME: ${scalarText(value)}`;
    source.problem(value, `"${key}" needs ${name}`, `write ${key}: { ${pair} }`);
    return [];
  }
  if (!isMap(value) || name === undefined) {
    source.problem(value ?? keyNode, `"on ${key}" names no block`, `write ${key}: BLOCK`);
    return [];
  }
  return source.entries(value).flatMap((entry) => readNamed(source, kind, entry) ?? []);
}

function readNamed(source: Source, kind: InterruptKind, { key, keyNode, value }: Entry): InterruptDraft | undefined {
  if (!isScalar(value) || value.value === null) {
    source.problem(value ?? keyNode, `"${key}" names no block`, 'name a block');
    return undefined;
  }
  const milliseconds = kind === 'after' ? parseDuration(key) : 0;
  if (milliseconds === undefined || PATTERNS[kind]?.test(key) === false) {
    source.problem(keyNode, `"${key}" is not ${NAMES[kind]}`, kind === 'after' ? durationHint(key) : undefined);
    return undefined;
  }
  return { kind, name: key, target: scalarText(value), milliseconds, node: value };
}
