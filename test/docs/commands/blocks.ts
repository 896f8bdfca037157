/** The shell blocks of all pages. Each is run by a test of this folder, or listed in `not-run.ts`. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { NOT_RUN } from './not-run.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

interface Block {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/** The blocks of every page, and which of them a test has run. */
export class Blocks {
  readonly #blocks: readonly Block[];
  readonly #run = new Set<Block>();

  private constructor(blocks: readonly Block[]) {
    this.#blocks = blocks;
  }

  static async read(): Promise<Blocks> {
    const exclude = (name: string): boolean => name === 'node_modules' || name === 'data';
    const pages = await Array.fromAsync(glob('**/*.md', { cwd: ROOT, exclude }));
    return new Blocks(pages.toSorted().flatMap(blocksOf));
  }

  /** All blocks of a page, in its order; they count as run. */
  all(page: string): readonly string[] {
    const found = this.#blocks.filter((block) => block.page === page);
    if (found.length === 0) throw new Error(`${page} has no shell block`);
    for (const block of found) this.#run.add(block);
    return found.map(({ text }) => text);
  }

  /** The only block of a page that is `text`, or contains it; it counts as run. */
  one(page: string, text: string): string {
    const ofPage = this.#blocks.filter((block) => block.page === page);
    const containing = ofPage.filter((block) => block.text.includes(text));
    const found = ofPage.find((block) => block.text.trim() === text) ?? containing[0];
    if (found === undefined || (containing.length > 1 && found.text.trim() !== text))
      throw new Error(`${page}: ${containing.length} blocks contain ${text}`);
    this.#run.add(found);
    return found.text;
  }

  /** Blocks that no test has run and `not-run.ts` does not list, and entries of that list without a block. */
  forgotten(): readonly string[] {
    const listed = (block: Block) => NOT_RUN.filter(([page, text]) => block.page === page && block.text.includes(text));
    const left = this.#blocks.filter((block) => !this.#run.has(block) && listed(block).length === 0);
    const stale = NOT_RUN.filter((entry) => !this.#blocks.some((block) => listed(block).includes(entry)));
    const both = this.#blocks.filter((block) => this.#run.has(block) && listed(block).length > 0);
    return [
      ...left.map(({ page, line, text }) => `${page}:${line} is not run: ${text.split('\n')[0]}`),
      ...stale.map(([page, text]) => `not-run.ts: ${page} has no block with ${text}`),
      ...both.map(({ page, line }) => `${page}:${line} is run, and listed in not-run.ts`),
    ];
  }
}

/** The first block of another language on a page, such as a scenario or a program; '': the first without a language. */
export function textOf(page: string, language: string): string {
  const found = fences(page).find((fence) => fence.language === language);
  if (found === undefined) throw new Error(`${page} has no block of ${language}`);
  return found.text;
}

const SHELLS = ['sh', 'bash', 'shell', 'console'];

function blocksOf(page: string): readonly Block[] {
  return fences(page).filter(({ language }) => SHELLS.includes(language));
}

function fences(page: string): readonly (Block & { readonly language: string })[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)].map((match) => ({
    page,
    language: match[1] ?? '',
    line: text.slice(0, match.index).split('\n').length,
    text: match[2] ?? '',
  }));
}
