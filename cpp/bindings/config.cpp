// Settings: plain structs that Python fills in.
#include "anabranch/config.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "anabranch/rollout.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace anabranch;

namespace {

// A word of the Python settings as one of ours.
template <class E>
E word(const std::string& given, std::initializer_list<std::pair<const char*, E>> words) {
  for (const auto& [name, value] : words)
    if (given == name) return value;
  throw nb::value_error(("no setting is called " + given).c_str());
}

void set_selector(SelectorConfig& s, const nb::dict& d) {
  s.rule = word<Rule>(nb::cast<std::string>(d["rule"]),
                      {{"puct", Rule::puct}, {"ucb1", Rule::ucb1}, {"gumbel", Rule::gumbel}, {"regret_matching", Rule::regret_matching}, {"exp3", Rule::exp3}, {"matrix", Rule::matrix}});
  if (s.learns()) {
    s.share = nb::cast<double>(d["exploration"]);
    s.growth = nb::cast<double>(d["growth"]);
    s.difference = nb::cast<bool>(d["difference"]);
    s.by_strategy = nb::cast<bool>(d["by_strategy"]);
    return;
  }
  s.scale = word<Scale>(nb::cast<std::string>(d["scale"]),
                        {{"range", Scale::range}, {"node", Scale::node}, {"graph", Scale::graph}, {"none", Scale::none}});
  if (s.rule == Rule::gumbel) {
    s.considered = nb::cast<std::size_t>(d["considered"]);
    s.c_visit = nb::cast<double>(d["c_visit"]);
    s.c_scale = nb::cast<double>(d["c_scale"]);
    s.noise = nb::cast<double>(d["noise"]);
    return;
  }
  if (s.rule == Rule::puct) {
    s.c_init = nb::cast<double>(d["c_init"]);
    s.c_log = nb::cast<double>(d["c_log"]);
    s.c_base = nb::cast<double>(d["c_base"]);
    s.c_off = nb::cast<double>(d["c_off"]);
    s.epsilon = nb::cast<double>(d["epsilon"]);
  } else {
    s.c = nb::cast<double>(d["c"]);
  }
  s.first_play = word<FirstPlay>(nb::cast<std::string>(d["first_play"]),
                                 {{"parent", FirstPlay::parent}, {"parent_minus", FirstPlay::parent_minus},
                                  {"reduced", FirstPlay::reduced}, {"constant", FirstPlay::constant}, {"lowest", FirstPlay::lowest}});
  s.first_amount = nb::cast<double>(d["first_amount"]);
  s.w0 = nb::cast<double>(d["w0"]);
  s.weights = word<Weights>(nb::cast<std::string>(d["weights"]),
                            {{"D", Weights::d}, {"A", Weights::a}, {"B", Weights::b}, {"C", Weights::c}});
  s.random_ties = nb::cast<bool>(d["random_ties"]);
  if (s.rule == Rule::puct) s.prepare();
}

}  // namespace

void bind_config(nb::module_& m) {
  nb::class_<Config>(m, "Config", "The settings of a search as the engine reads them.")
      .def(nb::init<>())
      .def("set_selectors",
           [](Config& c, const nb::dict& alone, const nb::dict& together) {
             set_selector(c.selector, alone);
             set_selector(c.simultaneous, together);
           },
           nb::arg("alone"), nb::arg("together"),
           nb::sig("def set_selectors(self, alone: dict[str, object], together: dict[str, object]) -> None"))
      .def("set_chance",
           [](Config& c, bool sampled, bool in_transition, std::size_t exact_up_to, std::uint32_t draws, double widen, double power,
              std::size_t cap, double offset) { c.chance = {sampled, in_transition, exact_up_to, draws, widen, power, cap, offset}; },
           nb::arg("sampled"), nb::arg("in_transition"), nb::arg("exact_up_to"), nb::arg("draws"), nb::arg("widen"), nb::arg("power"), nb::arg("cap"),
           nb::arg("offset"))
      .def("set_cycles",
           [](Config& c, const std::string& kind, double value) {
             c.cycles = word<Cycles>(kind, {{"refused", Cycles::refused}, {"bootstrap", Cycles::bootstrap}, {"valued", Cycles::valued}});
             c.repetition = value;
           },
           nb::arg("kind"), nb::arg("value"))
      .def("set_waves",
           [](Config& c, std::uint32_t width, std::uint32_t depth, const std::string& virtual_loss) {
             c.width = width;
             c.depth = depth;
             c.virtual_loss = word<VirtualLoss>(virtual_loss, {{"loss", VirtualLoss::loss}, {"visits", VirtualLoss::visits}, {"off", VirtualLoss::off}});
           },
           nb::arg("width"), nb::arg("depth"), nb::arg("virtual_loss"))
      .def("set_refresh",
           [](Config& c, const std::string& refresh, std::uint64_t sweep_every) {
             c.refresh = word<Refresh>(refresh, {{"path", Refresh::path}, {"parents", Refresh::parents}, {"ancestors", Refresh::ancestors}, {"sweep", Refresh::sweep}});
             c.sweep_every = sweep_every;
           },
           nb::arg("refresh"), nb::arg("sweep_every"))
      .def("set_proofs",
           [](Config& c, const std::string& mode, std::pair<double, double> returns, std::pair<double, double> also, double width, double apart) {
             c.proofs = word<Proofs>(mode, {{"off", Proofs::off}, {"opposed", Proofs::opposed}, {"free", Proofs::free}});
             std::tie(c.proof_low, c.proof_high) = returns;
             std::tie(c.also_low, c.also_high) = also;
             c.proof_width = width;
             c.proof_apart = apart;
           },
           nb::arg("mode"), nb::arg("returns"), nb::arg("also"), nb::arg("width"), nb::arg("apart"))
      .def_rw("best", &Config::best)
      .def_rw("merge", &Config::merge)
      .def_rw("stop", &Config::stop)
      .def_rw("rho", &Config::rho)
      .def_rw("leak", &Config::leak)
      .def_rw("max_nodes", &Config::max_nodes)
      .def_rw("max_bytes", &Config::max_bytes)
      .def_rw("seed", &Config::seed)
      .def_rw("hash_mask", &Config::hash_mask)
      .def_rw("discount", &Config::discount)
      .def_rw("returns_low", &Config::returns_low)
      .def_rw("returns_high", &Config::returns_high)
      .def_rw("keyed_by_path", &Config::keyed_by_path)
      .def_rw("edge_discounts", &Config::edge_discounts);

  nb::class_<NativeEvaluator>(m, "NativeEvaluator", "An evaluator that needs no Python, or none.")
      .def(nb::init<>())
      .def_prop_ro("native", [](const NativeEvaluator& e) { return e.kind != NativeEvaluator::Kind::none; })
      .def("uniform", [](NativeEvaluator& e, double value) { e.kind = NativeEvaluator::Kind::uniform; e.value = value; }, nb::arg("value"))
      .def("hashing", [](NativeEvaluator& e, std::uint64_t seed) { e.kind = NativeEvaluator::Kind::hashing; e.seed = seed; }, nb::arg("seed"))
      .def("heuristic", [](NativeEvaluator& e) { e.kind = NativeEvaluator::Kind::heuristic; }, "That of the rules, which have the verb.")
      .def("rollout",
           [](NativeEvaluator& e, std::int32_t count, std::int32_t max_depth, std::int32_t greedy, bool own, std::uintptr_t address) {
             e.kind = NativeEvaluator::Kind::rollout;
             e.count = count;
             e.max_depth = max_depth;
             e.greedy = greedy;
             e.own = own;
             e.rollout = reinterpret_cast<RolloutFunction>(address);
           },
           nb::arg("count"), nb::arg("max_depth"), nb::arg("greedy"), nb::arg("own"), nb::arg("address"), "`address` 0 calls the verbs one by one.");
}
