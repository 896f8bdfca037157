/** The versions of a scenario: which serve, how they differ, a trial, one step back. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Difference } from '../../authors/editor/difference.tsx';
import type { OpenScenario } from '../../authors/open-scenario.ts';
import { pathOf, type Problem as Mistake, type ScriptData, type Serving } from '../../authors/scenario-types.ts';
import { read } from '../../lib/api.ts';
import { moment } from '../../lib/format.ts';
import { closeOver, openOver, over } from '../../lib/router.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from '../../words/versions.ts';

interface Version {
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Share of new calls. */
  readonly percent: number;
  readonly problems: readonly Mistake[];
}

export function VersionsPanel({ open }: { readonly open: OpenScenario }) {
  const versions = useSignal<readonly Version[]>([]);
  const failure = useSignal<unknown>(undefined);
  const compared = useSignal<{ readonly number: number; readonly data: ScriptData } | undefined>(undefined);
  const share = useSignal('10');
  const { value: script } = open.script;
  const path = `${pathOf(open.kind)}/${encodeURIComponent(open.id)}/versions`;
  const attempt = (work: () => Promise<void>): void => {
    failure.value = undefined;
    work().catch((error: unknown) => (failure.value = error));
  };
  useEffect(() => {
    attempt(async () => void (versions.value = await read<readonly Version[]>(path)));
  }, [script]);
  const opened = openOver();
  useEffect(() => {
    const number = Number(opened);
    if (opened === undefined) compared.value = undefined;
    else if (Number.isInteger(number))
      attempt(async () => {
        const { scriptdata } = await read<{ scriptdata: ScriptData }>(`${path}/${number}`);
        compared.value = { number, data: scriptdata };
      });
  }, [opened]);
  if (script === undefined) return null;
  const { serving } = script;
  const serve = (wanted: Serving, done: string): void =>
    attempt(async () => {
      await open.change({ serving: wanted });
      toast(done);
    });
  return (
    <>
      <div class="bar">
        <button
          type="button"
          onClick={() =>
            attempt(async () => {
              await open.rollBack();
              toast(words('rolledBack'));
            })
          }
        >
          {words('rollBack')}
        </button>
        <span class="hint">{words('rollBackHelp')}</span>
      </div>
      <Problem error={failure.value} />
      <ul class="versions">
        {versions.value.map(({ number, created, percent, problems }) => {
          const canRun = problems.every(({ severity }) => severity !== undefined);
          const isServed = number === serving.version;
          const callers = number === serving.trial?.version ? (serving.trial.callers ?? []) : [];
          return (
            <li key={number}>
              <b>{words('version', { n: number })}</b> <span class="quiet">{moment(created)}</span>{' '}
              {percent > 0 && <span class="badge good">{words('serves', { percent })}</span>}
              {callers.length > 0 && (
                <span class="badge warn">{words('callers', { numbers: callers.join(', ') })}</span>
              )}
              {!canRun && <span class="badge bad">{words('mistakes')}</span>}
              <div class="bar">
                <button type="button" onClick={() => over(String(number))}>
                  {words('compare')}
                </button>
                {canRun && !isServed && (
                  <button type="button" onClick={() => serve({ version: number }, words('nowServes', { n: number }))}>
                    {words('serve')}
                  </button>
                )}
                {canRun && !isServed && serving.version !== null && (
                  <form
                    class="bar"
                    onSubmit={(event) => {
                      event.preventDefault();
                      const trial = { version: number, percent: Number(share.value) };
                      serve({ version: serving.version, trial }, words('share', { n: number }));
                    }}
                  >
                    <input
                      class="short"
                      type="number"
                      min={1}
                      max={99}
                      required
                      aria-label={words('share', { n: number })}
                      value={share.value}
                      onInput={({ currentTarget }) => (share.value = currentTarget.value)}
                    />
                    <button type="submit">{words('begin')}</button>
                  </form>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {compared.value !== undefined && (
        <Dialog title={words('title')} wide onClose={closeOver}>
          <Difference
            format={compared.value.data.format}
            before={{ label: words('version', { n: compared.value.number }), text: compared.value.data.source }}
            after={{ label: words('now'), text: open.text.value }}
          />
        </Dialog>
      )}
    </>
  );
}
