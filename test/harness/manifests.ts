import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findProgram } from './programs.ts';

export const MANIFESTS = resolve(import.meta.dirname, '../../deploy/kubernetes');

/** A manifest that kustomize renders from `deploy/kubernetes`. */
// biome-ignore lint/suspicious/noExplicitAny: a dozen kinds, read by the tests only
export type Manifest = any;

/** @throws {Error} with kustomize's message, or if kustomize is not installed. */
export function render(directory: string): Manifest[] {
  const program = findProgram('kubectl');
  if (program === null) throw new Error('no kubectl and no kustomize');
  const command = basename(program) === 'kustomize' ? 'build' : 'kustomize';
  const text = execFileSync(program, [command, directory], { encoding: 'utf8', stdio: 'pipe' });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/**
 * Copies `deploy/kubernetes` and edits the example, as an operator does.
 *
 * @param edit changes the text of `orders/kustomization.yaml`.
 * @returns the directory of that kustomization; the caller removes the directory two levels above it.
 */
export function fillIn(edit: (text: string) => string): string {
  const root = mkdtempSync(join(tmpdir(), 'orders-kubernetes-'));
  cpSync(MANIFESTS, root, { recursive: true });
  const directory = join(root, 'example/orders');
  const file = join(directory, 'kustomization.yaml');
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
  return directory;
}

/** Enables every component that is commented out in the example. */
export const withAllComponents = (text: string): string =>
  text
    .replaceAll(/^( *)# ?((?: *)(?:- |files:|options:|labels:|annotations:))/gm, '$1$2')
    .replace('gateway-api # or ', 'gateway-api\n  - ');
