// Train dlib's svm_rank_trainer on a file in SVMlight's format: dlib_rank -c C -e EPSILON FILE WEIGHTS
// Build: g++ -O3 -march=native -std=c++14 -DDLIB_NO_GUI_SUPPORT -I DLIB dlib_rank.cpp -o dlib_rank
#include <dlib/matrix.h>
#include <dlib/svm/svm_rank_trainer.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

typedef dlib::matrix<double, 0, 1> Vector;
struct Document { int grade = 0; long query = 0; std::vector<std::pair<int, double>> features; };

int main(int argc, char** argv) {
  double C = 1, epsilon = 1e-3;
  int at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    if (argv[at][1] == 'c') C = atof(argv[at + 1]);
    if (argv[at][1] == 'e') epsilon = atof(argv[at + 1]);
  }
  std::ifstream file(argv[at]);
  std::vector<Document> documents;
  int width = 0;
  for (std::string line, word; std::getline(file, line);) {
    std::istringstream words(line);
    Document one;
    for (words >> one.grade; words >> word;) {
      const auto colon = word.find(':');
      const double value = atof(word.c_str() + colon + 1);
      const int column = atoi(word.c_str());
      if (word[0] == 'q') one.query = long(value);
      else one.features.push_back({column, value});
      width = std::max(width, column);
    }
    documents.push_back(one);
  }
  std::map<long, std::map<int, std::vector<Vector>>> queries;
  for (const auto& one : documents) {
    Vector x(width);
    x = 0;
    for (const auto& entry : one.features) x(entry.first - 1) = entry.second;
    queries[one.query][one.grade].push_back(x);
  }
  std::vector<dlib::ranking_pair<Vector>> samples;
  double pairs = 0;
  for (const auto& query : queries)
    for (const auto& better : query.second) {
      dlib::ranking_pair<Vector> sample;
      sample.relevant = better.second;
      for (const auto& worse : query.second)
        if (worse.first < better.first)
          sample.nonrelevant.insert(sample.nonrelevant.end(), worse.second.begin(), worse.second.end());
      if (sample.nonrelevant.empty()) continue;
      pairs += double(sample.relevant.size()) * sample.nonrelevant.size();
      samples.push_back(sample);
    }
  dlib::svm_rank_trainer<dlib::linear_kernel<Vector>> trainer(C * pairs);  // its risk is a mean over pairs
  trainer.set_epsilon(epsilon);
  const auto began = std::chrono::steady_clock::now();
  const auto found = trainer.train(samples);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  printf("Training-time: %.6f secs\n", took.count());
  FILE* out = fopen(argv[at + 1], "w");
  for (int i = 0; i < width; i++) fprintf(out, "%.17g\n", found.basis_vectors(0)(i));
  return fclose(out);
}
