// The page is whole without this: it only tells when the session has moved on.
const goal = document.querySelector("[data-revision]");
const news = document.getElementById("news");

async function look() {
  if (document.hidden) return;
  try {
    const answer = await fetch(goal.dataset.state, { cache: "no-store" });
    if (answer.ok && (await answer.json()).revision > Number(goal.dataset.revision)) news.hidden = false;
  } catch {
    // the panel has ended; what is shown stays
  }
}

if (goal && news) setInterval(look, 2000);
