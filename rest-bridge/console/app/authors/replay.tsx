/** A run step by step: buttons and arrow keys go along the trace; what happened in a step, and the variables after it. */
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { duration } from '../lib/format.ts';
import { words } from '../words/runs.ts';
import { type Run, type TraceEntry, variablesAfter } from './run-types.ts';

export interface ReplayProps {
  readonly run: Run;
  /** Index of the shown step. */
  readonly step: Signal<number>;
}

export function Replay({ run, step }: ReplayProps) {
  const { trace, outcome, start = trace[0]?.start ?? 0 } = run;
  const last = trace.length - 1;
  const now = Math.min(step.value, last);
  const entry = trace[now];
  const steps = useRef<HTMLOListElement>(null);
  useEffect(() => {
    steps.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [now]);
  const go = (to: number): void => {
    step.value = Math.max(0, Math.min(last, to));
  };
  if (entry === undefined) return <p class="empty">{words('noSteps')}</p>;
  return (
    <div class="replay">
      <div class="bar">
        <StepButton name={words('first')} sign="|◀" isOff={now === 0} onClick={() => go(0)} />
        <StepButton name={words('before')} sign="◀" isOff={now === 0} onClick={() => go(now - 1)} />
        <input
          type="range"
          aria-label={words('step')}
          min={0}
          max={last}
          value={now}
          onInput={({ currentTarget }) => go(Number(currentTarget.value))}
        />
        <StepButton name={words('next')} sign="▶" isOff={now === last} onClick={() => go(now + 1)} />
        <StepButton name={words('last')} sign="▶|" isOff={now === last} onClick={() => go(last)} />
        <span class="quiet" role="status">
          {words('stepOf', { n: now + 1, all: trace.length })}
        </span>
        {outcome !== undefined && (
          <span class={outcome.status === 'failed' ? 'badge bad' : 'badge good'}>{words(outcome.status)}</span>
        )}
      </div>
      {outcome?.error !== undefined && (
        <p class="mistake">
          {outcome.error.code}: {outcome.error.message}
        </p>
      )}
      <div class="replay-parts">
        <ol ref={steps} class="steps" aria-label={words('steps')}>
          {trace.map((each, index) => (
            <li key={each.step}>
              <button
                type="button"
                class="quiet"
                aria-current={index === now ? 'step' : undefined}
                onClick={() => go(index)}
              >
                <span class="number">{duration(each.start - start)}</span> <b>{each.block}</b>{' '}
                <span class="quiet">{exitOf(each)}</span>
              </button>
            </li>
          ))}
        </ol>
        <StepDetail entry={entry} variables={variablesAfter(run, now)} />
      </div>
    </div>
  );
}

function exitOf({ exit, error, interrupt }: TraceEntry): string {
  if (error !== undefined) return `→ ${error.code}`;
  return `→ ${interrupt ?? exit ?? '…'}`;
}

interface StepButtonProps {
  readonly name: string;
  readonly sign: string;
  readonly isOff: boolean;
  readonly onClick: () => void;
}

function StepButton({ name, sign, isOff, onClick }: StepButtonProps) {
  return (
    <button type="button" aria-label={name} title={name} disabled={isOff} onClick={onClick}>
      {sign}
    </button>
  );
}

interface StepDetailProps {
  readonly entry: TraceEntry;
  readonly variables: Readonly<Record<string, unknown>>;
}

function StepDetail({ entry, variables }: StepDetailProps) {
  const { component, subject, milliseconds, events = [], answers = [], log = [], result = {}, error } = entry;
  const changed = new Set(Object.keys(entry.variables ?? {}));
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div class="step-detail" tabIndex={0} role="region" aria-label={words('inStep')}>
      <p>
        <code>{component}</code> {subject}{' '}
        {milliseconds !== undefined && <span class="quiet">{words('took', { ms: milliseconds })}</span>}
      </p>
      {error !== undefined && (
        <p class="mistake">
          {error.code}: {error.message}
        </p>
      )}
      <ul>
        {events.map(({ what }, index) => (
          <li key={index}>{what}</li>
        ))}
        {answers.map(({ party, line }, index) => (
          <li key={index}>
            {party}: {line}
          </li>
        ))}
        {log.map((line, index) => (
          <li key={index}>
            <code>{line}</code>
          </li>
        ))}
      </ul>
      <Values title={words('result')} values={result} />
      <Values title={words('variables')} values={variables} marked={changed} />
    </div>
  );
}

interface ValuesProps {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly marked?: ReadonlySet<string>;
}

function Values({ title, values, marked }: ValuesProps) {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <code>{JSON.stringify(value)}</code>
              {marked?.has(name) === true && <span class="badge warn">{words('changed')}</span>}
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}
