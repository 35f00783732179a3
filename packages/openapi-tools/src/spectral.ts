import spectralCore from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';

/** What Spectral reports with its rules for OpenAPI, `spectral:oas`: errors, warnings and hints. */
export async function spectralProblems(document: object): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [oas] } as never);
  const problems = await spectral.run(JSON.stringify(document));
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('.')})`);
}
