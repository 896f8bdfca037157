/** Stops recordings of a killed node. */
import { quoted } from './quoted.ts';

/** Sends a command to the media server and returns its answer. */
type Api = (command: string) => Promise<string>;

/**
 * Stops recordings to these files on all channels and conferences: a killed node began them, and the media server kept
 * recording.
 * @returns the files that were being recorded; each is complete when the media server reports it
 */
export async function endLeftRecordings(api: Api, files: ReadonlySet<string>): Promise<string[]> {
  const ended: string[] = [];
  for (const { uuid } of (json(await api('show channels as json')) as Channels | undefined)?.rows ?? []) {
    const taps = await api(`uuid_buglist ${uuid}`);
    for (const [, file = ''] of taps.matchAll(/<target>(.*)<\/target>/g)) {
      if (!files.has(file)) continue;
      await api(`uuid_record ${uuid} stop ${quoted(file)}`);
      ended.push(file);
    }
  }
  for (const { conference_name: name, members } of (json(await api('conference json_list')) as
    | Conference[]
    | undefined) ?? []) {
    for (const { record_path: file } of members) {
      if (file === undefined || !files.has(file)) continue;
      await api(`conference ${name} recording stop ${file}`);
      ended.push(file);
    }
  }
  return ended;
}

interface Channels {
  readonly rows?: readonly { readonly uuid: string }[];
}

interface Conference {
  readonly conference_name: string;
  readonly members: readonly { readonly record_path?: string }[];
}

/** Undefined for other text: the media server answers in words when the list is empty. */
function json(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
