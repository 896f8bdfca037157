/** The sounds of scenarios on this node. */
import type { DomainName } from '../../domain-name/index.ts';
import type { LiveDirectory } from '../../domain/index.ts';
import { LANGUAGE, ScenarioError } from '../../language/index.ts';
import { type Prompts, SoundError, type UrlSounds } from '../../prompts/index.ts';
import { type PromptPort, unavailable } from '../../runs/index.ts';
import { FileStoreError } from '../../storage/index.ts';

/** Setting of a domain: the language of its runs. */
const SETTING = 'language';
/** The language where a domain has no setting. */
const DEFAULT = 'en';

export interface NodePromptsOptions {
  readonly prompts: Prompts;
  readonly urls: UrlSounds;
  /** Milliseconds that a caller waits for a conversion. */
  readonly waitMs: number;
}

export class NodePrompts implements PromptPort {
  readonly #directory: LiveDirectory;
  readonly #prompts: Prompts;
  readonly #urls: UrlSounds;
  readonly #waitMs: number;
  /** By the id of the domain. */
  #languages = new Map<string, string>();

  private constructor(directory: LiveDirectory, { prompts, urls, waitMs }: NodePromptsOptions) {
    this.#directory = directory;
    this.#prompts = prompts;
    this.#urls = urls;
    this.#waitMs = waitMs;
  }

  static async open(directory: LiveDirectory, options: NodePromptsOptions): Promise<NodePrompts> {
    const port = new NodePrompts(directory, options);
    const { settings } = directory.collections;
    const read = async (): Promise<void> => {
      const rows = (await settings.list()).filter(({ key }) => key === SETTING);
      port.#languages = new Map(rows.map(({ domain_id: id, value }) => [id, typeof value === 'string' ? value : '']));
    };
    settings.onChange(async ({ before, after }) => {
      if (before?.key === SETTING || after?.key === SETTING) await read();
    });
    settings.onReset(read);
    await read();
    return port;
  }

  language(domain: DomainName): string {
    const found = this.#languages.get(this.#idOf(domain)) ?? '';
    return LANGUAGE.test(found) ? found : DEFAULT;
  }

  uploaded(domain: DomainName, name: string, language: string): (() => Promise<string>) | undefined {
    const row = this.#prompts.find(this.#idOf(domain), name, language);
    return row && (() => ofAuthor(`the prompt ${name}`, this.#prompts.wavOf(row)));
  }

  has(domain: DomainName, name: string, language: string): boolean {
    return this.#prompts.find(this.#idOf(domain), name, language) !== undefined;
  }

  async playable(file: string, signal: AbortSignal): Promise<string> {
    const late = AbortSignal.timeout(this.#waitMs);
    try {
      return await ofAuthor(file, this.#prompts.playable(file, AbortSignal.any([signal, late])));
    } catch (error) {
      if (late.aborted && !signal.aborted) throw unavailable(`${file} is still being converted: try again`);
      throw error;
    }
  }

  fetched(url: string, signal: AbortSignal): Promise<string> {
    return ofAuthor(url, this.#urls.open(url, signal));
  }

  #idOf(domain: DomainName): string {
    return this.#directory.domain(domain)?.id ?? '';
  }
}

/** @throws ScenarioError for a file that is no sound, and while the file store is away */
async function ofAuthor(what: string, opening: Promise<string>): Promise<string> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof SoundError) throw new ScenarioError('no_sound', `${what} ${error.message}`, { cause: error });
    if (error instanceof FileStoreError) throw unavailable(error.message);
    throw error;
  }
}
