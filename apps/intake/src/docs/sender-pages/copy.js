// The Clipboard API exists only in secure contexts; elsewhere the buttons stay hidden.
for (const button of navigator.clipboard ? document.querySelectorAll('button.copy') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}
