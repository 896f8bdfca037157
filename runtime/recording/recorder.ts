/** Records calls by the rules of their domains. */
import type { DomainName } from '../domain-name/index.ts';
import type { RecordedCall, RecordedLeg } from './call.ts';
import { RecordingError } from './errors.ts';
import { FileRecording, type RecordingTools } from './file-recording.ts';
import type { RecordingRule, RuleBook } from './rule-book.ts';

/**
 * State of a domain's main recording of a call:
 *
 * - `off`: the rule excludes the call; `resume` starts it where the rule permits
 * - `active`, `paused`: a file is open; while paused, silence is written
 */
interface MainRecording {
  readonly rule: RecordingRule;
  state: 'off' | 'active' | 'paused';
  /** Domains of the call with paused recordings, kept through transfers. */
  readonly paused: Set<DomainName>;
  /** Rejects when it failed to start. */
  file: Promise<FileRecording> | undefined;
}

/** Records calls by the rules of their domains: one file per call and domain. */
export class Recorder {
  readonly #tools: RecordingTools;
  readonly #rules: Pick<RuleBook, 'decide'>;
  readonly #calls = new Map<string, Map<DomainName, MainRecording>>();
  readonly #open = new Set<Promise<unknown>>();

  constructor(tools: RecordingTools, rules: Pick<RuleBook, 'decide'>) {
    this.#tools = tools;
    this.#rules = rules;
  }

  /** Calls with a matching rule. */
  get count(): number {
    return this.#calls.size;
  }

  /**
   * A call was answered: starts recording before both sides are connected. After a transfer, a paused recording stays
   * paused.
   */
  answered(call: RecordedCall): void {
    const decided = this.#rules.decide(call);
    if (decided.size === 0) return;
    const mains = new Map<DomainName, MainRecording>();
    for (const [domain, rule] of decided) {
      const main: MainRecording = { rule, state: 'off', paused: call.pausedRecordings, file: undefined };
      mains.set(domain, main);
      if (rule.record) this.#start(main, call, domain);
    }
    this.#calls.set(call.dialogid, mains);
  }

  /** The call has ended or was transferred into another. */
  over(dialogid: string): void {
    const mains = this.#calls.get(dialogid);
    this.#calls.delete(dialogid);
    for (const { file } of mains?.values() ?? []) {
      if (file !== undefined) this.#background(stopFile(file));
    }
  }

  /**
   * Writes silence from now on.
   * @throws RecordingError when the domain has no active recording of the call, or its rule does not permit it
   */
  async pause(dialogid: string, domain: DomainName): Promise<void> {
    const main = this.#pausable(dialogid, domain);
    main.state = 'paused';
    main.paused.add(domain);
    const file = await active(main);
    await file.pause();
  }

  /**
   * Continues after a pause, or starts the recording of a call excluded by a rule that permits it, if no domain records
   * it.
   * @throws RecordingError
   */
  async resume(call: RecordedCall, domain: DomainName): Promise<void> {
    const main = this.#resumable(call.dialogid, domain);
    main.paused.delete(domain);
    if (main.state === 'paused') {
      const file = await active(main);
      main.state = 'active';
      await file.resume();
      return;
    }
    this.#start(main, call, domain);
    await active(main);
  }

  /** Checks `pause` or `resume` without executing it. @throws RecordingError as they would */
  check(command: 'pause' | 'resume', dialogid: string, domain: DomainName): void {
    if (command === 'pause') this.#pausable(dialogid, domain);
    else this.#resumable(dialogid, domain);
  }

  /** Resolves when all ended recordings are archived. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
  }

  #pausable(dialogid: string, domain: DomainName): MainRecording {
    const main = this.#calls.get(dialogid)?.get(domain);
    if (main === undefined || main.state === 'off') throw new RecordingError('command', 'the call is not recorded');
    if (main.state === 'paused') throw new RecordingError('command', 'the recording is paused already');
    if (!main.rule.permitPause) throw new RecordingError('command', 'the recording rule does not permit it');
    return main;
  }

  #resumable(dialogid: string, domain: DomainName): MainRecording {
    const mains = this.#calls.get(dialogid);
    const main = mains?.get(domain);
    if (mains === undefined || main === undefined) throw new RecordingError('command', 'no recording rule applies');
    if (main.state === 'active') throw new RecordingError('command', 'the recording is not paused');
    if (main.state === 'paused') return main;
    // Specification, "SETUP_RECORD": an active recording of one domain excludes starting that of the other.
    if ([...mains.values()].some(({ state }) => state !== 'off')) {
      throw new RecordingError('command', 'the other domain of the call records it; the rule of this one does not');
    }
    if (!main.rule.permitPause) throw new RecordingError('command', 'the recording rule does not permit it');
    return main;
  }

  #start(main: MainRecording, call: RecordedCall, domain: DomainName): void {
    const leg = recordingLeg(call);
    const { rule } = main;
    if (leg === undefined) {
      main.state = 'off';
      return;
    }
    const paused = main.paused.has(domain);
    main.state = paused ? 'paused' : 'active';
    const file = FileRecording.start(this.#tools, {
      call,
      leg,
      domain,
      layer: '',
      ruleId: rule.id,
      storage: rule.storage,
      transcribe: rule.transcribe,
      paused,
    });
    main.file = file;
    this.#background(
      file.then(
        (recording) => recording.finished,
        (err: unknown) => {
          main.state = 'off';
          main.file = undefined;
          this.#tools.failed(err, 'recording', { id: '', dialogid: call.dialogid });
        },
      ),
    );
  }

  #background(work: Promise<unknown>): void {
    const settled: Promise<unknown> = work.finally(() => this.#open.delete(settled));
    this.#open.add(settled);
  }
}

/** The leg whose channel has the sound of both sides: the caller's, unless that is a scenario. */
function recordingLeg({ legs }: RecordedCall): RecordedLeg | undefined {
  return legs.find(({ endpoint }) => endpoint !== undefined);
}

/** @throws RecordingError when it failed to start */
async function active({ file }: MainRecording): Promise<FileRecording> {
  if (file === undefined) throw new RecordingError('command', 'the call cannot be recorded: it has no sound');
  try {
    return await file;
  } catch (error) {
    throw new RecordingError('command', (error as Error).message, { cause: error });
  }
}

async function stopFile(file: Promise<FileRecording>): Promise<void> {
  const started = await file.catch(() => undefined);
  await started?.stop();
}
