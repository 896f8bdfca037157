/** Remembers which sources were compiled, so that a start needs no script process for unchanged ones. */
import { createHash } from 'node:crypto';
import { appendFileSync, rmSync, statSync } from 'node:fs';
import process from 'node:process';
import { readJsonLines } from '../json-lines/index.ts';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';

/** The form of the file, and what its results depend on: the parser and the compiler of the Node release. */
const FORM = `1 ${process.version}`;
/** Bytes of a file that is begun anew. */
const LIMIT = 16 * 1_048_576;

interface Line {
  readonly key: string;
  /** The source without types; null: the source itself. */
  readonly code: string | null;
}

export interface CompiledOptions {
  /** File of JSON lines. */
  readonly file: string;
  /** Such a file that is only read, as the installation left it. */
  readonly prepared?: string;
  readonly compile: (source: ScriptSource) => Promise<CompileResult>;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * A `compile` that remembers sources without mistakes over a restart.
 * A file that cannot be read or written only makes the next start slower.
 */
export function rememberCompiled({ file, prepared, compile, log }: CompiledOptions): CompiledOptions['compile'] {
  let known: Map<string, string | null> | undefined;
  let isWritable = true;
  /** By key: scenarios that are checked at once may import the same file. */
  const running = new Map<string, Promise<CompileResult>>();
  const remember = (line: Line): void => {
    known?.set(line.key, line.code);
    if (!isWritable) return;
    try {
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    } catch (err) {
      isWritable = false;
      log.warn({ err, file }, 'compiled scripts cannot be remembered; the next start compiles them again');
    }
  };
  const compileOnce = async (source: ScriptSource, key: string): Promise<CompileResult> => {
    const result = await compile(source);
    if (result.ok) remember({ key, code: result.code === source.source ? null : result.code });
    return result;
  };
  return async (source) => {
    known ??= new Map([...(prepared === undefined ? [] : read(prepared)), ...read(file)]);
    const key = createHash('sha256')
      .update(JSON.stringify([FORM, source.format, source.kind, source.source]))
      .digest('base64url');
    const code = known.get(key);
    if (code !== undefined) return { ok: true, code: code ?? source.source };
    let result = running.get(key);
    if (result === undefined) {
      result = compileOnce(source, key).finally(() => running.delete(key));
      running.set(key, result);
    }
    return result;
  };
}

function read(file: string): Map<string, string | null> {
  try {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LIMIT) rmSync(file, { force: true });
    return new Map(readJsonLines<Partial<Line> | null>(file).flatMap((line) => entry(line)));
  } catch {
    return new Map();
  }
}

function entry(line: Partial<Line> | null): [string, string | null][] {
  const { key, code } = line ?? {};
  return typeof key === 'string' && (typeof code === 'string' || code === null) ? [[key, code]] : [];
}
