/** The console's modules, bundled when a browser first asks for one. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Plugin } from 'esbuild';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Made for browsers already; it would make the bundle three times as slow. */
const READY: Readonly<Record<string, string>> = { 'elk-worker.min.js': 'elkjs/lib/elk-worker.min.js' };

/** What the page names; all other files have names of their content. */
export const ENTRY: readonly string[] = ['main.js', 'main.css', ...Object.keys(READY)];

const APP = fileURLToPath(new URL('app/', import.meta.url));
/** More costs more time than it saves bytes. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

type Encoding = 'br' | 'gzip';

/** A file of the bundle. */
export class BundledFile {
  readonly #content: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();
  /** Entity tag. */
  readonly tag: string;

  constructor(content: Uint8Array) {
    this.#content = Buffer.from(content);
    this.tag = `"${createHash('sha256').update(content).digest('base64url')}"`;
  }

  /** The content in the best encoding that a request accepts. @param accepted its Accept-Encoding */
  async encoded(accepted: string): Promise<{ readonly encoding?: Encoding; readonly content: Buffer }> {
    const encoding = (['br', 'gzip'] as const).find((name) => new RegExp(String.raw`\b${name}\b`).test(accepted));
    if (encoding === undefined) return { content: this.#content };
    const content = this.#compressed.get(encoding) ?? compress(encoding, this.#content);
    this.#compressed.set(encoding, content);
    return { encoding, content: await content };
  }
}

function compress(encoding: Encoding, content: Buffer): Promise<Buffer> {
  return encoding === 'br' ? promisify(brotliCompress)(content, BROTLI) : promisify(gzip)(content);
}

/** The files of the console in memory. A start of the node makes nothing of them. */
export class Bundle {
  #files: Promise<ReadonlyMap<string, BundledFile>> | undefined;
  readonly #ready = new Map<string, Promise<BundledFile>>();

  /** A file by its name; undefined for an unknown one. @throws Error when a source has a mistake */
  async file(name: string): Promise<BundledFile | undefined> {
    const ready = READY[name];
    if (ready !== undefined) return await this.#readyFile(name, ready);
    this.#files ??= build();
    try {
      return (await this.#files).get(name);
    } catch (error) {
      // The next request tries again.
      this.#files = undefined;
      throw error;
    }
  }

  #readyFile(name: string, module: string): Promise<BundledFile> {
    const file =
      this.#ready.get(name) ??
      readFile(new URL(import.meta.resolve(module))).then((content) => new BundledFile(content));
    this.#ready.set(name, file);
    return file;
  }
}

/** JsSIP is joined by the phone's own route, and loaded when the phone is opened. */
const JSSIP: Plugin = {
  name: 'jssip',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/jssip\.js$/ }, () => ({ path: '/phone/jssip.js', external: true }));
  },
};

async function build(): Promise<ReadonlyMap<string, BundledFile>> {
  const esbuild = await import('esbuild');
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: [`${APP}main.tsx`],
      outdir: APP,
      write: false,
      bundle: true,
      splitting: true,
      minify: true,
      format: 'esm',
      target: 'es2023',
      charset: 'utf8',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      chunkNames: '[name]-[hash]',
      logLevel: 'silent',
      plugins: [JSSIP],
    });
    return new Map(outputFiles.map(({ path, contents }) => [path.slice(APP.length), new BundledFile(contents)]));
  } finally {
    // Ends its process.
    await esbuild.stop();
  }
}
