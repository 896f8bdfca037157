/**
 * A sandbox process: runs scripts for the host, connected over file descriptor 3. Its argument is JSON: `{memoryMb,
 * frameBytes, restMs, processes}`.
 */
import { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { FrameReader, encodeFrame } from '../frame.ts';
import type { Entry, ToHost, ToWorker } from '../messages.ts';
import { MemoryWatch } from './memory-watch.ts';
import { ProcessorWatch } from './processor-watch.ts';
import { compileAlone } from './room.ts';
import { Seats } from './seats.ts';
import { type Program, SourceError, CompilerExhaustedError, plainSource, onCompilerExhausted } from './source.ts';
import { Turnstile } from './turnstile.ts';
import { WorkerRun } from './worker-run.ts';

const PROCESSORS = Math.max(2, availableParallelism());
/** Number of runs with an isolate, present or requested, above which waiting ones release theirs at once. */
const CROWD = 64;
/** Memory limit of a compiling isolate in megabytes. */
const COMPILE_MEMORY_MB = 32;

interface WorkerSettings {
  readonly memoryMb: number;
  readonly frameBytes: number;
  readonly restMs: number;
  /** Number of processes sharing the processors. */
  readonly processes: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
const host = new Socket({ fd: 3 });
const reader = new FrameReader<ToWorker>(settings.frameBytes);
const programs = new Map<number, Program>();
const runs = new Map<number, WorkerRun>();
const seats = new Seats();
/** Number of runs active at once: for long turns, over all processes together, the number of processors. */
const turnstile = new Turnstile({
  all: 4 * PROCESSORS,
  long: 2 * PROCESSORS,
  fresh: Math.max(1, Math.round(PROCESSORS / settings.processes)),
  ofOne: PROCESSORS,
});
const watch = new MemoryWatch(settings.memoryMb, die);
const processor = new ProcessorWatch();

function send(message: ToHost, body = ''): void {
  host.write(encodeFrame(message, body));
}

/** Exits immediately: isolates in other threads would delay an orderly exit. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function compile(request: number, program: Program): Promise<void> {
  try {
    await compileAlone(program, COMPILE_MEMORY_MB);
    send({ type: 'compiled', request, problems: [] }, plainSource(program));
  } catch (error) {
    if (error instanceof CompilerExhaustedError) return send({ type: 'uncompiled', request });
    const problems =
      error instanceof SourceError ? error.problems : [{ line: 1, column: 1, message: (error as Error).message }];
    send({ type: 'compiled', request, problems }, codeOf(program));
  }
}

/** The code of a source with mistakes; empty when its types cannot be removed. */
function codeOf(program: Program): string {
  try {
    return plainSource(program);
  } catch (error) {
    if (error instanceof SourceError || error instanceof CompilerExhaustedError) return '';
    throw error;
  }
}

/** An isolate takes more than a megabyte, which V8 keeps for the next one: many at once are expensive. */
function restMs(crowded: boolean): number {
  return crowded || runs.size > CROWD ? 0 : settings.restMs;
}

/** @param asleep the body of `wake`; undefined: the run starts */
function enter(entry: Entry, asleep?: string): WorkerRun {
  const over = (): void => void runs.delete(entry.run);
  const run = new WorkerRun(entry, { seats, watch, processor, turnstile, restMs, send, over }, asleep);
  runs.set(entry.run, run);
  return run;
}

function programOf(id: number): Program {
  const program = programs.get(id);
  if (!program) throw new Error(`program ${id} is unknown`);
  return program;
}

function programIn({
  format,
  kind,
  file,
  line,
  modules = [],
}: Extract<ToWorker, { type: 'program' }>): Omit<Program, 'source'> {
  return { format, kind, file, line, modules };
}

function receive(message: ToWorker, body: string): void {
  switch (message.type) {
    case 'program':
      programs.set(message.program, { ...programIn(message), source: body });
      break;
    case 'forget':
      seats.forget(programOf(message.program));
      programs.delete(message.program);
      break;
    case 'compile':
      void compile(message.request, programOf(message.program));
      break;
    case 'start':
      void enter(message).begin(programOf(message.program), body);
      break;
    case 'wake':
      void enter(message, body).wake(programOf(message.program));
      break;
    case 'job':
      runs.get(message.run)?.job(body, message.now);
      break;
    case 'save':
      runs.get(message.run)?.save();
      break;
    case 'halt':
      runs.get(message.run)?.halt(message.limit);
      break;
    case 'end':
      runs.get(message.run)?.end(message.reusable);
      runs.delete(message.run);
      break;
    case 'retire':
      for (const run of runs.values()) run.leave();
      break;
    case 'inspect':
      runs.get(message.run)?.inspect(body);
      break;
    case 'uninspect':
      runs.get(message.run)?.uninspect();
      break;
    case 'ping':
      send({ type: 'pong', rss: process.memoryUsage.rss() });
      break;
  }
}

onCompilerExhausted(() => send({ type: 'compilerExhausted' }));
host.on('data', (chunk: Buffer) => {
  reader.push(chunk);
  for (let frame = reader.next(); frame; frame = reader.next()) receive(frame.header, frame.body);
});
// Without its host the process has no purpose.
host.on('close', die);
host.on('error', die);
// Earlier output would not reach the host.
process.stdin.resume().once('end', () => send({ type: 'ready', rss: process.memoryUsage.rss() }));
